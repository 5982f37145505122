import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { meshHome, otherHost, type MeshHome } from '../support/mesh-home.ts';
import { eventually, mesh, startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { findTasks, submit, taskState } from '../support/mesh-tasks.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

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
});
