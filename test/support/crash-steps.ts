import { describe, expect, it } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import {
  endOfProcess,
  openCrashHome,
  startCrashWorker,
  startSuccessor,
  stateOnce,
  submitCrashTask,
} from './crash-home.ts';
import { crashSteps, type CrashStep } from './crash-order.ts';
import { actsOf, historyOf } from './crash-run.ts';
import { checkHistory } from './history-checker.ts';
import { seededRandom } from './seeded-random.ts';
import type { BoardPlace } from './stress/board-place.ts';
import { temporaryFolder } from './temporary-folder.ts';

const leaseMs = 60_000;
/** A dead worker's task is on its way again within this (`DESIGN.md` 12), its run not counted. */
const recoveryMs = 10_000;

const isResting = ({ phase }: TaskState): boolean => phase === 'done' || phase === 'needs-review';

interface Expected {
  readonly phase: 'done' | 'needs-review';
  readonly attempts: number;
  readonly spawns: number;
}

/** The repeat rule: what was not started goes on by itself, what ended never again; between, it depends. */
function expectedAfter(step: CrashStep, agentId: string): Expected {
  const number = crashSteps.indexOf(step) + 1;
  if (number <= 3 || number >= 8) return { phase: 'done', attempts: 1, spawns: 1 };
  const hasSpawned = number >= 5 ? 1 : 0;
  if (agentId === 'sender') return { phase: 'needs-review', attempts: 1, spawns: hasSpawned };
  return { phase: 'done', attempts: 2, spawns: hasSpawned + 1 };
}

export interface CrashPlan {
  readonly seeds: readonly number[];
  readonly steps?: readonly CrashStep[];
  /** Where they are to run over Kanboard: on which, once it is up. */
  readonly kanboard?: () => Promise<BoardPlace>;
}

/** Kills a real worker at each step of a run, once a seed, and looks at what its successor makes of it. */
export function describeCrashSteps({ seeds, steps = crashSteps, kanboard }: CrashPlan): void {
  describe.each(seeds)('kill -9 of a worker, seed %i', (seed) => {
    // Even: a run that may be repeated; odd: one that acts outside.
    const agentId = seed % 2 === 0 ? 'builder' : 'sender';
    const workMs = 20 + Math.floor(seededRandom(seed).fraction() * 150);

    it.each(steps)(`at step %s of a ${agentId}`, { timeout: 60_000 }, async (step) => {
      const home = await temporaryFolder();
      const place = await kanboard?.();
      const first = await openCrashHome(home, agentId, leaseMs, place);
      const uid = await submitCrashTask(first.deps, agentId, 'Do it');
      await first.board.close();
      // Random digits: those of a process are, and Kanboard keeps them shorter than words.
      const [incarnation, next] = ['f1457f1457f1457f', '5ec07d5ec07d5ec0'];
      const order = { home, agentId, workMs, leaseMs, incarnation, keeps: false };
      const told = { ...order, step, ...(place ? { kanboard: place } : {}) };
      expect(await endOfProcess(await startCrashWorker(told))).toBe('SIGKILL');

      const { board, deps } = await openCrashHome(home, agentId, leaseMs, place);
      const diedAtMs = deps.clock.monotonicMs();
      const stop = await startSuccessor(deps, { ...order, incarnation: next });
      const state = await stateOnce(board, uid, isResting);
      expect(deps.clock.monotonicMs() - diedAtMs).toBeLessThan(recoveryMs + workMs);
      await stop();
      const events = (await board.read(uid))?.events ?? [];
      await board.close();

      const history = historyOf(home);
      const { phase, attempts, spawns } = expectedAfter(step, agentId);
      expect(state).toMatchObject({ phase, attempts });
      expect(history.filter(({ op }) => op === 'spawn')).toHaveLength(spawns);
      const settled = events.filter(({ kind }) => kind === 'settled');
      expect(settled).toHaveLength(phase === 'done' ? 1 : 0);
      expect(new Set(actsOf(home)).size).toBe(actsOf(home).length);
      const logs = new Map([[uid, events]]);
      const options = { attempts: limits.attempts, isSettled: false };
      expect(checkHistory(history, logs, options)).toEqual([]);
    });
  });
}
