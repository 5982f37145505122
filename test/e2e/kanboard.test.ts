import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { meshHome, otherHost, type MeshHome } from '../support/mesh-home.ts';
import { eventually, mesh, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { findTasks, submit, taskState } from '../support/mesh-tasks.ts';
import { kanboardCalls } from '../support/services/kanboard-calls.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { availableService, describeWith } from '../support/services/service.ts';

const Report = z.object({
  changed: z.int(),
  steps: z.array(
    z.object({
      about: z.string(),
      verdict: z.string(),
      says: z.string(),
      fix: z.string().optional(),
    }),
  ),
});
const Row = z.object({ result: z.object({ id: z.number(), creator_id: z.number().optional() }) });

describeWith('kanboard', 'a mesh on a Kanboard', () => {
  let home: MeshHome;
  let kanboard: RunningKanboard;
  const running = new Set<MeshProcess>();
  const env = () => ({ MESH_KANBOARD_TOKEN: kanboard.token });
  const board = () => ['--board', `kanboard:${kanboard.baseUrl}`];
  const start = async () => {
    const started = await startMesh({ home: home.dir, env: env() });
    running.add(started);
    return started;
  };

  beforeAll(async () => {
    [home, kanboard] = await Promise.all([meshHome(), startKanboard({ database: 'sqlite' })]);
    await home.addCard('player', { verification: 'submitter' });
    await home.addCard('plodder', { rehearsal: { script: [{ answer: 'Done.', delay: '3s' }] } });
    const settings = { url: kanboard.baseUrl, poll: '10m' };
    home.write('mesh.yaml', home.read('mesh.yaml') + stringify({ board: { kanboard: settings } }));
    home.commit();
  }, 60_000);
  afterEach(async () => {
    await Promise.all([...running].map((one) => one.stop('SIGKILL')));
    running.clear();
  });
  afterAll(async () => {
    home.remove();
    await kanboard.stop();
  });

  it('does work that lies there and goes on where its own database is lost', async () => {
    const first = await start();
    const taskId = await submit(first, 'player', 'play');
    await eventually(
      () => taskState(first, taskId),
      ({ phase }) => phase === 'done',
      20_000,
    );
    const verified = await first.mesh('verify', taskId, '--json');
    expect([verified.code, verified.stderr]).toEqual([0, '']);
    const shown = JSON.parse((await first.mesh('show', taskId, '--json')).stdout) as object;
    expect(shown).toMatchObject({ state: { phase: 'verified' } });
    const waiting = await submit(first, 'plodder', 'plod');
    expect((await first.stop()).code).toBe(0);

    for (const folder of readdirSync(join(home.dir, 'state/boards'))) {
      rmSync(join(home.dir, 'state/boards', folder), { recursive: true });
    }
    const second = await start();
    const gone = await eventually(
      () => taskState(second, waiting),
      ({ phase }) => phase === 'done',
      20_000,
    );
    expect(gone.attempts).toBe(1);
    expect((await taskState(second, taskId)).phase).toBe('verified');
    expect((await second.stop()).code).toBe(0);
  }, 90_000);

  it('is woken by the board’s webhook for what another host puts there', async () => {
    const elsewhere = otherHost(home.dir);
    const first = await start();
    const { url } = first;
    const token = readFileSync(join(home.dir, 'state/keys/kanboard-webhook.token'), 'utf8').trim();
    await kanboard.setWebhook({ url: `${url}/board/webhook`, token });
    const sent = await mesh(
      { home: elsewhere, env: env() },
      'submit',
      'player',
      'from afar',
      '--json',
    );
    expect(sent.stderr).toContain('one elsewhere on its board takes it');
    expect(sent.code).toBe(0);
    const { id } = JSON.parse(sent.stdout) as { id: string };
    // Not by its id: a look at it would bring it here, too.
    await eventually(
      () => findTasks(first, { agentId: 'player', phases: ['done'] }),
      (done) => done.some(({ taskId }) => taskId === id),
      20_000,
    );
    const stranger = await fetch(`${url}/board/webhook?token=wrong`, { method: 'POST' });
    expect(stranger.status).toBe(401);
  }, 60_000);

  it('does not start with a token that is refused, and says which', async () => {
    const wrong = { MESH_KANBOARD_TOKEN: 'wrong' };
    const refused = await mesh({ home: home.dir, env: wrong }, 'up', '--port', '0', ...board());
    expect(refused.code).toBe(11);
    expect(refused.stderr).toMatch(/401.*MESH_KANBOARD_TOKEN/);
    const none = await mesh({ home: home.dir }, 'up', '--port', '0', ...board());
    expect(none.code).toBe(4);
    expect(none.stderr).toMatch(/Settings → API.*board\.kanboard\.tokenFile/);
  });

  it('is set up for the Cards, and a second time finds nothing to do', async () => {
    const first = await start();
    const token = readFileSync(join(home.dir, 'state/keys/kanboard-webhook.token'), 'utf8').trim();
    const setup = async (...args: string[]) => {
      const { code, stdout, stderr } = await first.mesh('board', 'setup', '--json', ...args);
      expect([code, stderr]).toEqual([0, '']);
      return Report.parse(JSON.parse(stdout));
    };
    const about = ({ steps }: z.infer<typeof Report>, name: string) =>
      steps.filter((step) => step.about === name);
    const planned = await setup('--dry-run');
    expect(planned.changed).toBe(0);
    expect(planned.steps.some(({ verdict }) => verdict === 'would')).toBe(true);

    const made = await setup();
    expect(made.changed).toBeGreaterThan(10);
    expect(about(made, 'webhook')[0]).toMatchObject({ verdict: 'you' });
    expect(about(made, 'webhook')[0]?.fix).toContain(`${first.url}/board/webhook`);
    for (const name of ['time zone', 'slots', 'metadata', 'writers'])
      expect(about(made, name)).toMatchObject([{ verdict: 'ok' }]);
    const file = join(home.dir, 'state/keys/kanboard-users/operator.password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const password = readFileSync(file, 'utf8').trim();
    expect(JSON.stringify(made)).not.toContain(password);
    const person = Buffer.from(`operator:${password}`).toString('base64');
    const mine = await fetch(kanboard.url, {
      method: 'POST',
      headers: { authorization: `Basic ${person}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getMyProjectsList' }),
    });
    const { result } = z
      .object({ result: z.record(z.string(), z.string()) })
      .parse(await mine.json());
    expect(Object.values(result)).toEqual(expect.arrayContaining(['Inbox of operator', 'player']));

    await kanboard.setWebhook({ url: `${first.url}/board/webhook`, token });
    const again = await setup();
    expect(again.changed).toBe(0);
    expect(again.steps.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(about(again, 'webhook')[0]?.says).toContain('heard at once');

    const taskId = await submit(first, 'player', 'by name');
    const api = kanboardCalls(kanboard.url, kanboard.token);
    const ask = async (method: string, params: Record<string, unknown>) =>
      Row.parse((await api(method, params)).body).result;
    const { id: project_id } = await ask('getProjectByName', { name: 'player' });
    const shown = await ask('getTaskByReference', { project_id, reference: `mesh:${taskId}` });
    const { id: operator } = await ask('getUserByName', { username: 'operator' });
    expect(shown.creator_id).toBe(operator);

    const findings = async (env: Record<string, string>) => {
      const { stdout } = await mesh({ home: home.dir, env }, 'doctor', '--json');
      const all = z.array(z.object({ about: z.string(), verdict: z.string(), says: z.string() }));
      return all.parse(JSON.parse(stdout)).filter((one) => one.about.startsWith('board'));
    };
    const sound = await findings(env());
    expect(sound.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(sound.map((one) => one.about)).toContain('board webhook');
    expect(await findings({ MESH_KANBOARD_TOKEN: 'wrong' })).toMatchObject([
      { about: 'board', verdict: 'fail', says: expect.stringContaining('401') as string },
    ]);
  }, 120_000);

  it('brings up a Kanboard of its own, keeps it alive, and stops it', async () => {
    const fresh = await meshHome();
    const own = { KANBOARD_DEV_HOME: availableService('kanboard').path };
    try {
      await fresh.addCard('player');
      fresh.commit();
      const up = { home: fresh.dir, env: own, args: ['--board', 'kanboard'] };
      const first = await startMesh(up);
      running.add(first);
      const taskId = await submit(first, 'player', 'play');
      const shown = async () => {
        const { stdout } = await first.mesh('show', taskId, '--json');
        return JSON.parse(stdout) as { state: { phase: string }; ref?: { url: string } };
      };
      const { ref } = await eventually(shown, ({ state }) => state.phase === 'done', 20_000);
      const page = new URL(ref?.url ?? '').origin;
      expect((await fetch(page)).ok).toBe(true);
      const pid = parseInt(fresh.read('state/kanboard/data/php.pid'), 10);
      process.kill(pid, 'SIGKILL');
      await eventually(
        () => submit(first, 'player', 'once more').catch(() => undefined),
        (id) => id !== undefined,
        30_000,
      );
      expect((await first.stop()).code).toBe(0);
      await expect(fetch(page)).rejects.toThrow();
    } finally {
      fresh.remove();
    }
  }, 90_000);
});
