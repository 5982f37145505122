import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually, mesh, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { submit, taskEvents, taskState } from '../support/mesh-tasks.ts';
import { describeWith } from '../support/services/service.ts';

/** A program that ends once the file is there that it is given. */
const waits = `
  const { existsSync } = require('node:fs');
  const packet = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const result = { run_id: packet.run_id, status: 'completed', summary: 'Done.' };
  const { action } = packet;
  if (action) Object.assign(result, { action_status: 'performed', receipt_id: action.receipt_id });
  const timer = setInterval(() => {
    if (!existsSync(process.argv[1])) return;
    clearInterval(timer);
    process.stdout.write(JSON.stringify(result));
  }, 20);`;

interface Accepted {
  readonly held: readonly { readonly taskId: string; readonly phase: string }[];
  readonly lost: readonly { readonly taskId: string }[];
}

describeWith('kanboard', 'backup and restore of a mesh and its own Kanboard', ({ path }) => {
  const env = { KANBOARD_DEV_HOME: path };
  const board = ['--board', 'kanboard'];
  const running = new Set<MeshProcess>();
  let home: MeshHome;
  let file: string;
  /** Open at the first backup and after it was restored. */
  let open: readonly string[] = [];

  beforeAll(async () => {
    home = await meshHome();
    const command = ['node', '-e', waits, join(home.dir, 'state/go')];
    const program = { runtime: 'runner', rehearsal: undefined, runner: { command } };
    await home.addCard('sender', { ...program, effects: 'external' });
    await home.addCard('repeater', program);
    await home.addCard('player');
    home.commit();
    file = join(home.dir, '..', 'mesh.tar.gz');
  });
  afterEach(async () => {
    await Promise.all([...running].map((one) => one.stop()));
    running.clear();
  });
  afterAll(() => {
    home.remove();
  });

  async function up(): Promise<MeshProcess> {
    const started = await startMesh({ home: home.dir, env, args: board });
    running.add(started);
    return started;
  }
  async function down(one: MeshProcess): Promise<void> {
    expect((await one.stop()).code).toBe(0);
    running.delete(one);
  }
  const run = (...args: readonly string[]) => mesh({ home: home.dir, env }, ...args, ...board);
  const phase = async (one: MeshProcess, uid: string) => (await taskState(one, uid)).phase;
  const reach = (one: MeshProcess, uid: string, wanted: string) =>
    eventually(
      () => phase(one, uid),
      (now) => now === wanted,
      20_000,
    );
  const starts = async (one: MeshProcess, uid: string) =>
    (await taskEvents(one, uid)).filter(({ kind }) => kind === 'started').length;

  it('starts nothing of a restored board before it is accepted, and then only what may run again', async () => {
    const first = await up();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const submitted = (agentId: string, wish: object = {}) => submit(first, agentId, agentId, wish);
    const sent = await submitted('sender');
    const repeated = await submitted('repeater');
    // Waits behind the first of its queue, and is done after the backup.
    const queued = await submitted('sender');
    const untouched = await submitted('player', { notBefore: tomorrow });
    await reach(first, sent, 'working');
    await reach(first, repeated, 'working');

    const backup = await first.mesh('board', 'backup', file, '--json', ...board);
    expect([backup.stderr, backup.code]).toEqual(['', 0]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { manifest } = JSON.parse(backup.stdout) as { manifest: Record<string, unknown> };
    expect(manifest).toMatchObject({
      board: { kind: 'own', boardId: 'mesh', kanboardVersion: expect.any(String) as string },
      git: { head: home.git('rev-parse', 'HEAD'), isClean: true },
      stamp: { stamp: expect.any(Number) as number },
      hasKeys: false,
    });
    const entries = execFileSync('tar', ['-tzf', file]).toString().split('\n');
    expect(entries[0]).toBe('manifest.json');
    expect(entries).toContain('state/kanboard/data/db.sqlite');
    expect(
      entries.filter((name) => /keys|operator\.token|api\.token|password/u.test(name)),
    ).toEqual([]);
    expect((await first.mesh('board', 'backup', file, ...board)).code).toBe(3);

    home.write('state/go', '');
    const late = await submitted('player');
    for (const uid of [sent, repeated, queued, late]) await reach(first, uid, 'done');
    const refused = await first.mesh('board', 'restore', file, ...board);
    expect([refused.code, refused.stderr]).toEqual([
      11,
      expect.stringContaining('`mesh up` (process') as string,
    ]);
    await down(first);

    const tried = await run('board', 'restore', file, '--dry-run');
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining('Nothing was changed')]);
    const restored = await run('board', 'restore', file, '--json');
    expect([restored.stderr, restored.code]).toEqual(['', 0]);
    const { dataBefore, mirrorBefore } = JSON.parse(restored.stdout) as Record<string, string>;
    expect(existsSync(join(dataBefore ?? '', 'db.sqlite'))).toBe(true);
    expect(existsSync(join(mirrorBefore ?? '', 'mirror.db'))).toBe(true);
    expect(readdirSync(join(home.dir, 'state')).filter((name) => /restoring/u.test(name))).toEqual(
      [],
    );

    const frozen = await up();
    expect(await phase(frozen, queued)).not.toBe('done');
    const why = await frozen.mesh('why', queued);
    expect(why.stdout).toMatch(/restored from a backup.*mesh board restore --accept/u);
    await expect(submit(frozen, 'player', 'more')).rejects.toThrow();
    // It is at work, for whoever waits on a line.
    expect(await frozen.mesh('send', 'player', 'hello')).toMatchObject({ code: 0 });
    for (const uid of [sent, repeated, queued]) {
      expect(await starts(frozen, uid)).toBe(uid === queued ? 0 : 1);
    }
    await down(frozen);

    const said = await run('board', 'restore', '--accept', '--json');
    expect([said.stderr, said.code]).toEqual(['', 0]);
    const accepted = JSON.parse(said.stdout) as Accepted;
    const held = Object.fromEntries(accepted.held.map(({ taskId, phase: now }) => [taskId, now]));
    expect(held).toMatchObject({
      [sent]: 'needs-review',
      [repeated]: 'paused',
      [queued]: 'paused',
    });
    expect(accepted.lost.map(({ taskId }) => taskId)).toEqual([late]);

    const again = await up();
    expect((await again.mesh('task', 'resume', repeated)).code).toBe(0);
    await reach(again, repeated, 'done');
    expect(await phase(again, sent)).toBe('needs-review');
    expect(await phase(again, queued)).toBe('paused');
    expect(await phase(again, untouched)).toBe('scheduled');
    open = [sent, queued, untouched];
    await down(again);
  }, 120_000);

  it('brings all of it to a home that lost its state, and holds all that was open', async () => {
    const whole = join(home.dir, '..', 'whole.tar.gz');
    const backup = await run('board', 'backup', whole, '--with-keys');
    expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('holds the keys')]);
    const secret = home.read('state/keys/mesh.secret');
    rmSync(join(home.dir, 'state'), { recursive: true });
    const restored = await run('board', 'restore', whole);
    expect([restored.stderr, restored.code]).toEqual(['', 0]);
    expect(home.read('state/keys/mesh.secret')).toBe(secret);
    const said = await run('board', 'restore', '--accept', '--json');
    expect([said.stderr, said.code]).toEqual(['', 0]);
    const { held, lost } = JSON.parse(said.stdout) as Accepted;
    const now = new Map(held.map(({ taskId, phase: reached }) => [taskId, reached]));
    expect(open.map((uid) => now.get(uid))).toEqual(['needs-review', 'paused', 'paused']);
    expect(lost).toEqual([]);
  }, 60_000);
});
