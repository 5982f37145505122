import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { markedProcesses } from '../../agents/executors/run-mark.ts';
import { message, rpc, taskOf } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import {
  eventually,
  mesh,
  startDaemon,
  startMesh,
  type MeshProcess,
} from '../support/mesh-process.ts';
import { findTasks, submit, taskState } from '../support/mesh-tasks.ts';

/** A program that takes two seconds to end after it was told to; once it is up it makes the file it is given. */
const endsLate = `
  process.on('SIGTERM', () => setTimeout(() => process.exit(1), 2_000));
  setTimeout(() => {}, 110_000);
  require('node:fs').writeFileSync(process.argv[1], '');`;

const longRun = { rehearsal: { script: [{ answer: 'Played.', delay: '5s' }] } };

describe('mesh up', { timeout: 120_000 }, () => {
  let home: MeshHome;
  const begunFile = () => join(home.dir, 'state', 'reluctant-has-begun');
  const running = new Set<MeshProcess>();
  const start = async () => {
    const started = await startMesh({ home: home.dir });
    running.add(started);
    return started;
  };

  beforeAll(async () => {
    home = await meshHome();
    await home.addCard('repeater', { ...longRun, queue: { concurrency: 3 } });
    await home.addCard('sender', { ...longRun, effects: 'external' });
    await home.addCard('reluctant', {
      runtime: 'runner',
      rehearsal: undefined,
      runner: { command: ['node', '-e', endsLate, begunFile()], timeout: '2m' },
    });
    await home.addCard('sleeper', {
      runtime: 'runner',
      rehearsal: undefined,
      runner: { command: ['node', '-e', 'setTimeout(() => {}, 110_000)'], timeout: '2m' },
    });
    home.commit();
  });
  afterEach(async () => {
    await Promise.all([...running].map((one) => one.stop('SIGKILL')));
    running.clear();
  });
  afterAll(() => {
    home.remove();
  });

  it('makes a home, then lists every agent with address, trust, availability and why not', async () => {
    const fresh = await meshHome();
    try {
      const { dir } = fresh;
      const daemon = startDaemon({ home: `${dir}-new` }, ['up', '--port', '0']);
      const text = await eventually(daemon.stdout, (said) => said.includes('ready:'), 20_000);
      const row = (agentId: string) =>
        text.split('\n').find((line) => line.startsWith(`${agentId} `)) ?? '';
      const shipped = fresh.git('ls-files', 'cards').split('\n');
      for (const file of shipped) {
        const agentId = file.replace('cards/', '').replace('.card.yaml', '');
        expect(row(agentId)).toMatch(
          new RegExp(
            String.raw`\s(human|trusted|sandboxed)\s.*http://127\.0\.0\.1:\d+/agents/${agentId}/$`,
          ),
        );
      }
      expect(row('understudy')).toContain('available');
      expect(row('adolf')).toContain('waits: no gateway configured');
      expect(row('claude-coder')).toContain('waits: runtime executor is not served');
      expect(text).toMatch(new RegExp(`ready: ${shipped.length} agents at http://127`));
      expect((await daemon.stop()).code).toBe(0);
    } finally {
      fresh.remove();
    }
  });

  it('says what to do when the port or the home is taken, and starts nothing', async () => {
    const first = await start();
    const second = await mesh({ home: home.dir }, 'up', '--port', '0');
    expect(second.code).toBe(11);
    expect(second.stderr).toContain(`process ${first.pid}`);
    expect(second.stderr).toMatch(/in use .*Stop that one, or name another home with --home/);
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as AddressInfo;
    const other = await meshHome();
    try {
      const third = await mesh({ home: other.dir }, 'up', '--port', String(port));
      expect(third.code).toBe(11);
      expect(third.stderr).toContain(`127.0.0.1:${port} can't be listened on`);
      expect(third.stderr).toContain('--port');
    } finally {
      blocker.close();
      other.remove();
    }
    expect(await (await fetch(`${first.url}/healthz`)).text()).toBe('ok');
    expect((await first.stop('SIGTERM')).code).toBe(0);
  });

  it('hands running work back at Ctrl-C, answers who waits, and finishes it after the next start', async () => {
    const first = await start();
    const taskId = await submit(first, 'repeater', 'in the queue');
    await eventually(
      () => taskState(first, taskId),
      ({ phase }) => phase === 'working',
    );
    const waiting = rpc(
      `${first.url}/agents/repeater/`,
      'SendMessage',
      { message: message('I wait for it') },
      { token: first.token },
    );
    await eventually(
      () => findTasks(first, { agentId: 'repeater', phases: ['working'] }),
      (working) => working.length === 2,
    );
    const stoppedMs = performance.now();
    expect((await first.stop('SIGINT')).code).toBe(0);
    expect(performance.now() - stoppedMs).toBeLessThan(8_000);
    // Whoever waited gets the task as it stands: it goes on, and has not failed.
    const handedBack = taskOf(await waiting);
    expect(handedBack.status.state).toBe('TASK_STATE_WORKING');
    const left = await mesh({ home: home.dir }, 'tasks', '--json', '--phase', 'working', 'claimed');
    expect(JSON.parse(left.stdout)).toMatchObject({ total: 0 });
    const between = await mesh({ home: home.dir }, 'show', taskId, '--json');
    expect(JSON.parse(between.stdout)).toMatchObject({ state: { phase: 'ready', attempts: 0 } });

    const second = await start();
    const both = await eventually(
      async () => [await taskState(second, taskId), await taskState(second, handedBack.id)],
      (states) => states.every(({ phase }) => phase === 'done'),
      20_000,
    );
    expect(both.map(({ attempts }) => attempts)).toEqual([1, 1]);
    await second.stop();
  });

  it('waits for a run that is slow to stop, whose caller waits for it', async () => {
    const first = await start();
    const sending = startDaemon({ home: home.dir }, ['send', 'reluctant', 'take your time']);
    await eventually(
      () => existsSync(begunFile()),
      (exists) => exists,
    );
    const [begun] = await findTasks(first, { agentId: 'reluctant', phases: ['working'] });
    expect((await first.stop('SIGTERM')).code).toBe(0);
    expect(await markedProcesses(`${begun?.taskId ?? ''}-v2`)).toEqual([]);
    const left = await mesh({ home: home.dir }, 'show', begun?.taskId ?? '', '--json');
    expect(JSON.parse(left.stdout)).toMatchObject({ state: { phase: 'ready', attempts: 0 } });
    await sending.stop('SIGINT');
  });

  it('recovers what kill -9 left: repeatable work is done again, external work asks a person', async () => {
    const first = await start();
    const again = await submit(first, 'repeater', 'do me again');
    const outward = await submit(first, 'sender', 'send it once');
    await eventually(
      async () => [await taskState(first, again), await taskState(first, outward)],
      (both) => both.every(({ phase }) => phase === 'working'),
    );
    expect((await first.stop('SIGKILL')).code).toBe('SIGKILL');

    const second = await start();
    const readyMs = performance.now();
    const recovered = await eventually(
      async () => [await taskState(second, again), await taskState(second, outward)] as const,
      ([repeated, asked]) => repeated.attempts === 2 && asked.phase === 'needs-review',
      10_000,
    );
    const recoveryMs = Math.round(performance.now() - readyMs);
    process.stdout.write(
      `figure: after kill -9 ready in ${Math.round(second.startMs)} ms (own count ${second.ready.readyMs}), recovered ${recoveryMs} ms later\n`,
    );
    expect(recovered[1].question).toMatchObject({ kind: 'reconcile', to: ['operator'] });
    await eventually(
      () => taskState(second, again),
      ({ phase }) => phase === 'done',
    );
    // Nobody started the outward work a second time.
    expect((await taskState(second, outward)).attempts).toBe(1);
    await second.stop();
  });

  it('ends the program that a killed mesh left running before it starts the next', async () => {
    const first = await start();
    const uid = await submit(first, 'sleeper', 'sleep');
    const left = await eventually(
      () => markedProcesses(`${uid}-v2`),
      (pids) => pids.length === 1,
    );
    await first.stop('SIGKILL');
    expect(await markedProcesses(`${uid}-v2`)).toEqual(left);

    const second = await start();
    const again = await eventually(
      () => taskState(second, uid),
      ({ attempts, claim }) => attempts === 2 && claim?.started === true,
    );
    expect(await markedProcesses(`${uid}-v2`)).toEqual([]);
    const mark = `${uid}-v${again.claim?.fence ?? 0}`;
    await eventually(
      () => markedProcesses(mark),
      (pids) => pids.length === 1,
    );
    await second.stop();
    expect(await markedProcesses(mark)).toEqual([]);
  });
});
