import type { TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import { createSlots, type Slots } from '../../fabric/queue/slots.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { startKeeper } from '../../keeper/keeper.ts';
import { agentIds, callers, type SimulatedCards } from './cards.ts';
import type { Judge } from './judge.ts';
import type { OutsideWorld } from './outside-world.ts';
import { livenessAmong, type SimulatedProcess } from './process.ts';

export interface MeshProcessOptions {
  readonly process: SimulatedProcess;
  readonly all: readonly SimulatedProcess[];
  readonly board: TaskBoard;
  readonly cards: SimulatedCards;
  readonly random: Random;
  readonly log: Log;
  readonly world: OutsideWorld;
  readonly judge: Judge;
  readonly isKeeper: boolean;
  readonly meshSecret: string;
  /** Whether an agent is available now. */
  readonly isAvailable: (agentId: string) => boolean;
  /** Whether anything new may still go wrong or come in. */
  readonly isCalm: () => boolean;
}

/** What `mesh up` does in one process: workers of all agents, an edge that answers callers, a keeper. */
export function startMeshProcess(options: MeshProcessOptions): void {
  const { process, board, cards, random, log, meshSecret } = options;
  const artifacts = { put: async () => '0'.repeat(64), get: async () => undefined };
  const deps: QueueDeps = {
    board,
    directory: cards,
    artifacts,
    clock: process.clock,
    random,
    log,
    meshSecret,
  };
  const slots = createSlots();
  const runTask = runsOutside(options, false);
  for (const agentId of agentIds) {
    startWorker(deps, {
      agentId,
      runTask,
      slots,
      incarnation: process.incarnation,
      availability: {
        at: () =>
          options.isAvailable(agentId)
            ? { a: 1, reasons: [] }
            : { a: 0, reasons: ['the quota is used up'] },
      },
    });
  }
  if (options.isKeeper) startKeeper(deps, { liveness: livenessAmong(options.all, process) });
  void answerCallers(deps, slots, options).catch((error: unknown) => {
    options.judge.report('FAULT', '', `an edge ended: ${String(error)}`);
  });
}

/** A run: something outside that takes its time and then ends in one of all the ways there are. */
function runsOutside(options: MeshProcessOptions, isBuffered: boolean): RunTask {
  const { process, random, world, judge } = options;
  return async ({ state, fence, attempt }, signal) => {
    judge.spawned(state.taskId, fence, attempt, isBuffered);
    const roll = options.isCalm() ? 0 : random.fraction();
    const workMs = roll > 0.97 ? 600_000 : 50 + 20_000 * random.fraction() ** 3;
    const { taskId: uid, task } = state;
    const spawned = { uid, fence, attempt, isBuffered, workMs, effects: task.effects };
    const acted = await world.spawn({ ...spawned, owner: process }, signal);
    if (!acted) return { kind: 'stopped' };
    return endOf(random.fraction(), options.isCalm(), fence, process.clock.nowMs());
  };
}

function endOf(roll: number, isCalm: boolean, fence: number, nowMs: number): RunEnd {
  const done = (summary: string): RunEnd => ({ kind: 'done', outcome: { summary, artifacts: [] } });
  if (isCalm || roll < 0.62) return done(saidBy(fence));
  if (roll < 0.74) return { kind: 'failed', reason: 'exit 1', retryable: true };
  if (roll < 0.77) return { kind: 'failed', reason: 'too hard', retryable: false };
  if (roll < 0.8) return { kind: 'parked', reason: 'quota', untilMs: nowMs + 20_000 };
  if (roll < 0.82) return { kind: 'parked', reason: 'the gateway is down' };
  if (roll < 0.85) return { kind: 'deferred', wakeAtMs: nowMs + 30_000 };
  if (roll < 0.86) return { kind: 'awaited', eventId: 'mail-7' };
  if (roll < 0.88) return { kind: 'uncertain', reason: 'the stream was cut' };
  if (roll < 0.89) return done('x'.repeat(2_000));
  if (roll < 0.9) throw new Error('a fault of ours');
  const isGate = roll < 0.95;
  return {
    kind: 'asked',
    question: isGate
      ? { to: 'human', kind: 'gate', text: 'May I?', options: ['yes', 'no'] }
      : { to: 'submitter', kind: 'question', text: 'Which one?', options: [] },
  };
}

/** Sync calls of effects `none`: nothing waits for a commit until the outcome does. */
async function answerCallers(
  deps: QueueDeps,
  slots: Slots,
  options: MeshProcessOptions,
): Promise<void> {
  const { process, random, isCalm } = options;
  const runTask = runsOutside(options, true);
  const never = new AbortController().signal;
  for (let call = 0; !isCalm(); call++) {
    await process.clock.sleep(20_000 * random.fraction());
    const policy = deps.directory.agent('nina');
    if (policy === undefined) continue;
    const slot = slots.tryTake('nina', policy.concurrency);
    if (slot === undefined) continue;
    try {
      const { state } = await submitTask(deps, {
        principal: callers.alvis,
        target: { kind: 'agent', agentId: policy.agentId },
        idempotencyKey: `call-${process.incarnation}-${call}`,
        intent: { title: 'A question', body: 'What time is it?' },
        mode: 'sync',
        durability: 'buffered',
      });
      const claim = { policy, incarnation: process.incarnation, startNow: true } as const;
      const held = await claimTask(deps, state.taskId, { ...claim, durability: 'buffered' });
      if (held) {
        const run = { policy, runTask, interactive: true, stopping: never };
        publish(options, held.uid, await runHeld(deps, held, run));
      }
    } catch {
      // The board is not there: the caller gets an error, and the next one comes.
    } finally {
      slot.giveBack();
    }
  }
}

const saidBy = (fence: number): string => `Done by fence ${fence}.`;
const bySaid = /^Done by fence (\d+)\.$/;

/** The caller hears what the task holds: of some run, or, where a person stood in for it, of none. */
function publish({ world }: MeshProcessOptions, uid: TaskId, state?: TaskState): void {
  if (state?.phase !== 'done') return;
  const fence = bySaid.exec(state.outcome?.summary ?? '')?.[1];
  if (fence !== undefined) world.history.push({ op: 'publish', uid, fence: Number(fence) });
}
