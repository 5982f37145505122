import { expect, it } from 'vitest';
import {
  endOfProcess,
  openCrashHome,
  startCrashWorker,
  startSuccessor,
  stateOnce,
  submitCrashTask,
} from '../support/crash-home.ts';
import { historyOf, poison } from '../support/crash-run.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const agentId = 'builder';
const leaseMs = 60_000;

/** A task that kills its worker each time (bug log G-17), and a healthy one that came after it. */
it(
  'gives poison up after three attempts, and lets the healthy task pass',
  { timeout: 90_000 },
  async () => {
    const home = await temporaryFolder();
    const first = await openCrashHome(home, agentId, leaseMs);
    const bad = await submitCrashTask(first.deps, agentId, poison);
    const good = await submitCrashTask(first.deps, agentId, 'healthy');
    await first.board.close();

    const order = { home, agentId, leaseMs, workMs: 20 };
    for (const life of [1, 2, 3]) {
      const worker = await startCrashWorker({ ...order, incarnation: `life-${life}`, keeps: true });
      expect(await endOfProcess(worker)).toBe('SIGKILL');
    }
    const { board, deps } = await openCrashHome(home, agentId, leaseMs);
    const stop = await startSuccessor(deps, { ...order, incarnation: 'life-4' });
    const given = await stateOnce(board, bad, ({ phase }) => phase === 'dead-letter');
    const healthy = await board.read(good);
    await stop();
    await board.close();

    expect(given).toMatchObject({ attempts: 3, failure: 'its process is dead' });
    expect(healthy?.state).toMatchObject({ phase: 'done', attempts: 1 });
    const started = historyOf(home).flatMap((line) => (line.op === 'spawn' ? [line.uid] : []));
    expect(started.filter((uid) => uid === bad)).toHaveLength(3);
    expect(started.indexOf(good)).toBeLessThan(started.lastIndexOf(bad));
  },
);
