import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { message, rpc, taskOf } from '../support/edge-calls.ts';
import { meshHome, otherHost, type MeshHome } from '../support/mesh-home.ts';
import {
  eventually,
  startDaemon,
  startMesh,
  type Daemon,
  type MeshProcess,
} from '../support/mesh-process.ts';
import { board, submit, taskState } from '../support/mesh-tasks.ts';

let home: MeshHome;
let mesh: MeshProcess;
let elsewhere: string;
const daemons: Daemon[] = [];

beforeAll(async () => {
  home = await meshHome();
  await home.addCard('plodder', {
    queue: { concurrency: 1 },
    rehearsal: {
      script: [
        { when: 'quick', answer: 'Done.' },
        { answer: 'Done.', delay: '4s' },
      ],
    },
  });
  home.commit();
  elsewhere = otherHost(home.dir);
  mesh = await startMesh({ home: home.dir });
}, 60_000);
afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')));
  await mesh.stop('SIGKILL');
  home.remove();
});

function daemon(folder: string, ...args: string[]): Daemon {
  const started = startDaemon({ home: folder }, [...args, '--json']);
  daemons.push(started);
  return started;
}

const Served = z.object({ agentId: z.string(), url: z.url(), board: z.string() });
const boardOf = ({ url }: MeshProcess) => ['--board', `mesh:${url}`];

describe('another host', { timeout: 120_000 }, () => {
  it('works on the queue beside the first, under its own agent’s name, and on its own address', async () => {
    const made = await mesh.mesh(
      ...['token', 'create', '--principal', 'plodder', '--role', 'agent'],
      ...['--scope', 'tasks:work'],
    );
    const served = daemon(
      elsewhere,
      ...['serve', 'plodder', '--port', '0', '--token', made.stdout.trim()],
      ...boardOf(mesh),
    );
    const { url, board: on } = Served.parse(JSON.parse(await served.readyLine));
    expect(on).toBe(mesh.url);

    // One slot a process: two at once are two workers.
    const uids = [await submit(mesh, 'plodder', 'first'), await submit(mesh, 'plodder', 'second')];
    const claims = await eventually(
      async () =>
        (await Promise.all(uids.map((uid) => taskState(mesh, uid)))).map(({ claim }) => claim),
      (both) => both.every((claim) => claim?.started),
      15_000,
    );
    expect(new Set(claims.map((claim) => claim?.incarnation)).size).toBe(2);
    await eventually(
      async () =>
        (await Promise.all(uids.map((uid) => taskState(mesh, uid)))).map(({ phase }) => phase),
      (phases) => phases.every((phase) => phase === 'done'),
      20_000,
    );

    const card = await fetch(`${url}/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({ name: 'plodder', url: `${url}/` });
    const anonymous = await rpc(`${url}/`, 'SendMessage', { message: message('quick') });
    expect(anonymous.status).toBe(401);
    expect((await served.stop()).code).toBe(0);
  });

  it('answers who waits on its own address, on record at the board', async () => {
    const served = daemon(
      elsewhere,
      ...['serve', 'plodder', '--port', '0', '--token', mesh.token],
      ...boardOf(mesh),
    );
    const { url } = Served.parse(JSON.parse(await served.readyLine));
    const token = readFileSync(join(elsewhere, 'state/operator.token'), 'utf8').trim();
    const sent = await rpc(`${url}/`, 'SendMessage', { message: message('quick one') }, { token });
    const task = taskOf(sent);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await taskState(mesh, task.id)).phase).toBe('done');
    expect((await served.stop()).code).toBe(0);
  });

  it('keeps time, and leaves nothing behind', async () => {
    const keeper = daemon(elsewhere, 'keeper', '--token', mesh.token, ...boardOf(mesh));
    expect(JSON.parse(await keeper.readyLine)).toEqual({ ready: true });
    const beside = daemon(home.dir, 'keeper');
    await beside.readyLine;
    const [there, here] = [await keeper.stop(), await beside.stop('SIGTERM')];
    expect([there.code, there.stderr, here.code, here.stderr]).toEqual([0, '', 0, '']);
    const killed = daemon(elsewhere, 'keeper', '--token', mesh.token, ...boardOf(mesh));
    await killed.readyLine;
    await killed.stop('SIGKILL');
    const next = daemon(elsewhere, 'keeper', '--token', mesh.token, ...boardOf(mesh));
    await next.readyLine;
    await next.stop();
    for (const folder of [home.dir, elsewhere]) {
      expect(readdirSync(join(folder, 'state/beside'))).toEqual([]);
    }
  });

  it('may look as far down a queue as the first', async () => {
    const far = { op: 'list', queue: 'plodder', nowMs: Date.now(), limit: 512 };
    expect(await board(mesh, far)).toEqual([]);
  });
});
