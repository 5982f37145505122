import { describe, expect, it } from 'vitest';
import { limits } from '../../../fabric/domain/limits.ts';
import { claimTask, startRun } from '../../../fabric/queue/claim.ts';
import {
  endOfProcess,
  openCrashHome,
  startCrashWorker,
  startSuccessor,
  stateOnce,
  submitCrashTask,
} from '../crash-home.ts';
import { keeperSteps, type KeeperStep } from '../crash-order.ts';
import { actsOf, historyOf } from '../crash-run.ts';
import { checkHistory } from '../history-checker.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { BoardPlace } from './board-place.ts';
import { processLiveness } from '../../../fabric/embedded/process-liveness.ts';

const leaseMs = 60_000;
const workMs = 20;
const incarnations = {
  holder: 'dead0001dead0001',
  keeper: 'f1457f1457f1457f',
  next: '5ec07d5ec07d5ec0',
};

export interface KeeperPlan {
  readonly steps?: readonly KeeperStep[];
  readonly kanboard: () => Promise<BoardPlace>;
}

/** Kills a keeper at each step of giving up a dead holder's claim, and looks at what the next one makes of it. */
export function describeKeeperSteps({ steps = keeperSteps, kanboard }: KeeperPlan): void {
  describe.each(['builder', 'sender'])(
    'kill -9 of a keeper, over a lost run of a %s',
    (agentId) => {
      it.each(steps)('at step %s', { timeout: 60_000 }, async (step) => {
        const home = await temporaryFolder();
        const place = await kanboard();
        const { board, deps } = await openCrashHome(home, agentId, leaseMs, place);
        const uid = await submitCrashTask(deps, agentId, 'Do it');
        await startedByADeadProcess(home, deps, uid);
        const order = { home, agentId, workMs, leaseMs, keeps: true, kanboard: place };
        const keeper = { ...order, incarnation: incarnations.keeper, step };
        expect(await endOfProcess(await startCrashWorker(keeper, 'crash-keeper'))).toBe('SIGKILL');

        const stop = await startSuccessor(deps, { ...order, incarnation: incarnations.next });
        const ends = agentId === 'sender' ? 'needs-review' : 'done';
        await stateOnce(board, uid, ({ phase }) => phase === ends);
        await stop();
        const events = (await board.read(uid))?.events ?? [];
        await board.close();

        expect(events.filter(({ kind }) => kind === 'expired')).toHaveLength(1);
        expect(actsOf(home)).toHaveLength(agentId === 'sender' ? 0 : 1);
        const options = { attempts: limits.attempts, isSettled: false };
        expect(checkHistory(historyOf(home), new Map([[uid, events]]), options)).toEqual([]);
      });
    },
  );
}

async function startedByADeadProcess(
  home: string,
  deps: Awaited<ReturnType<typeof openCrashHome>>['deps'],
  uid: Parameters<typeof claimTask>[1],
): Promise<void> {
  const { clock, directory } = deps;
  const incarnation = incarnations.holder;
  const liveness = await processLiveness({ folder: `${home}/procs`, incarnation, clock });
  const [policy] = directory.agents();
  const held = await claimTask(deps, uid, { policy: policy!, incarnation });
  await startRun(deps, held!);
  liveness.release();
}
