import { MeshError, reasonOf } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { AvailabilityProbe } from '../ports/availability.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import type { RunTask } from '../ports/run-task.ts';
import { claimTask, type Held } from './claim.ts';
import type { QueueDeps } from './deps.ts';
import { DoubtfulClaims } from './doubtful-claims.ts';
import { runHeld } from './run-held.ts';
import type { Slots } from './slots.ts';

export interface WorkerOptions {
  readonly agentId: string;
  readonly runTask: RunTask;
  readonly availability: AvailabilityProbe;
  readonly slots: Slots;
  readonly incarnation: string;
  readonly pollMs?: number;
  /** What a run streams; the edge of the persona listens. */
  readonly onChunk?: (held: Held, text: string) => void;
  readonly onProgress?: (held: Held, text: string) => void;
  readonly onClaimed?: (held: Held) => void;
}

export interface Worker {
  /** Looks at the queue now: a hint came, or a(t) may have changed. */
  wake(): void;
  /** Takes nothing new and lets its runs end by themselves; resolves when they have. */
  leave(): Promise<void>;
  /** Takes nothing new, tells runs to stop, waits for them to be on record or handed back. */
  stop(): Promise<void>;
}

/**
 * Drains an agent's queue: while a(t)=0 it leaves everything untouched; else it takes the best
 * candidates, one claim each, as slots of concurrency get free. Pulls; nobody dispatches.
 */
export function startWorker(deps: QueueDeps, options: WorkerOptions): Worker {
  const { agentId, pollMs = limits.pollMs } = options;
  const leaving = new AbortController();
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();
  const doubtful = new DoubtfulClaims();
  let wakeUp = new AbortController();
  const wake = () => {
    // With a reason: the default one is an exception whose trace costs more than all the rest.
    wakeUp.abort('woken');
  };

  const release = [
    options.slots.onFree(agentId, wake),
    deps.board.watch((_uid, state) => {
      if (isForWorkers(state) && state.queue === deps.directory.agent(agentId)?.queue) wake();
    }),
  ];

  const drainOnce = async (): Promise<void> => {
    const policy = deps.directory.agent(agentId);
    if (policy === undefined || options.availability.at(agentId).a === 0) return;
    await doubtful.settle(deps, agentId, options.incarnation);
    for (;;) {
      const taken = await takeNext(deps, policy, { ...options, doubtful, leaving, stopping });
      if (taken === undefined) return;
      const { run } = taken;
      running.add(run);
      void run.finally(() => running.delete(run));
      if (options.availability.at(agentId).a === 0) return;
    }
  };

  const loop = (async () => {
    while (!leaving.signal.aborted) {
      wakeUp = new AbortController();
      await drainOnce().catch((error: unknown) => {
        reportDown(deps, agentId, error);
      });
      await deps.clock.sleep(untilNextLook(deps, options, pollMs), wakeUp.signal);
    }
  })();

  const leave = async (): Promise<void> => {
    leaving.abort('leaving');
    wake();
    for (const undo of release) undo();
    await loop;
    await Promise.all(running);
  };
  return {
    wake,
    leave,
    stop() {
      stopping.abort('stopping');
      return leave();
    },
  };
}

/**
 * Whether a change is worth a look at the queue. A new task whose submitter waits is claimed by its edge
 * in the same breath; should that die in between, the next poll finds it.
 */
function isForWorkers({ phase, task, version }: TaskState): boolean {
  if (phase !== 'ready' && phase !== 'scheduled') return false;
  return task.mode !== 'sync' || version > 1;
}

/**
 * How long to wait without a hint: a poll with jitter, since many workers of one host must not look in
 * step; or until the agent is said to be available again, if that comes first (resume within 5 s).
 */
function untilNextLook(
  { clock, random }: QueueDeps,
  { availability, agentId }: WorkerOptions,
  pollMs: number,
): number {
  const nextPollMs = pollMs * (0.75 + random.fraction() / 2);
  const { a, untilMs } = availability.at(agentId);
  if (a === 1 || untilMs === undefined) return nextPollMs;
  return Math.min(nextPollMs, Math.max(untilMs - clock.nowMs(), shortestWaitMs));
}

const shortestWaitMs = 50;

/** What a look at the queue needs of its worker. */
interface Taking extends WorkerOptions {
  readonly doubtful: DoubtfulClaims;
  readonly leaving: AbortController;
  readonly stopping: AbortController;
}

/** Claims the best candidate and runs it; undefined when there is no slot or nothing to take. */
async function takeNext(
  deps: QueueDeps,
  policy: AgentPolicy,
  options: Taking,
): Promise<{ readonly run: Promise<void> } | undefined> {
  if (options.leaving.signal.aborted) return undefined;
  const slot = options.slots.tryTake(policy.agentId, policy.concurrency);
  if (slot === undefined) return undefined;
  try {
    const held = await claimBest(deps, policy, options);
    if (held === undefined) {
      slot.giveBack();
      return undefined;
    }
    slot.holdFor(held.uid);
    options.onClaimed?.(held);
    return { run: runTaken(deps, held, policy, options).finally(() => slot.giveBack()) };
  } catch (error) {
    slot.giveBack();
    throw error;
  }
}

/** How far it looks down its queue, step by step: the head may be full of what it can't take now. */
const depths = [8, 64, limits.candidates] as const;

async function claimBest(deps: QueueDeps, policy: AgentPolicy, options: Taking) {
  let seen = 0;
  for (const depth of depths) {
    const uids = await deps.board.list(policy.queue, deps.clock.nowMs(), depth);
    for (const uid of uids.slice(seen)) {
      const held = await claimIfOurs(deps, uid, policy, options);
      if (held) return held;
    }
    if (uids.length < depth) return undefined;
    seen = depth;
  }
  return undefined;
}

async function claimIfOurs(
  deps: QueueDeps,
  uid: TaskId,
  policy: AgentPolicy,
  { incarnation, doubtful }: Taking,
): Promise<Held | undefined> {
  const state = (await deps.board.known(uid))?.state;
  // A queue may be shared; a task pinned to another agent of it is not ours.
  if (state?.agentId !== undefined && state.agentId !== policy.agentId) return undefined;
  if (state?.parked && deps.clock.nowMs() < state.parked.untilMs) return undefined;
  try {
    return await claimTask(deps, uid, { policy, incarnation });
  } catch (error) {
    doubtful.add(uid);
    throw error;
  }
}

async function runTaken(
  deps: QueueDeps,
  held: Held,
  policy: AgentPolicy,
  options: Taking,
): Promise<void> {
  try {
    await runHeld(deps, held, {
      policy,
      runTask: options.runTask,
      interactive: false,
      stopping: options.stopping.signal,
      onChunk: (text) => options.onChunk?.(held, text),
      onProgress: (text) => options.onProgress?.(held, text),
    });
  } catch (error) {
    reportDown(deps, policy.agentId, error);
  }
}

function reportDown({ log }: QueueDeps, agent: string, error: unknown): void {
  const down = error instanceof MeshError && error.code === 'FABRIC_DOWN';
  if (down) log.warn('worker.board-down', { agent, reason: reasonOf(error) });
  else log.error('worker.fault', { agent, reason: reasonOf(error) });
}
