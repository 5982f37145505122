import { MeshError, reasonOf } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { TaskState } from '../domain/state.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import type { RunEnd, RunTask } from '../ports/run-task.ts';
import { releaseTask, startRun, type Held } from './claim.ts';
import type { QueueDeps } from './deps.ts';
import { finishRun, keepText } from './finish.ts';
import { keepLease, type LeaseLoss } from './lease.ts';
import { withTaint } from './taint.ts';

export interface RunHeldOptions {
  readonly policy: AgentPolicy;
  readonly runTask: RunTask;
  readonly interactive: boolean;
  readonly onChunk?: (text: string) => void;
  readonly onProgress?: (text: string) => void;
  /** The process is stopping: the run is told to stop and handed back. */
  readonly stopping: AbortSignal;
}

/**
 * Runs a held task to its end under its lease and puts the end on record. Never rejects for what the
 * run did. Returns the state after it, or undefined when the claim was lost: then nothing of the run
 * is kept and nothing was published.
 */
export async function runHeld(
  deps: QueueDeps,
  claimed: Held,
  options: RunHeldOptions,
): Promise<TaskState | undefined> {
  if (!hasSpawnMargin(deps, claimed)) {
    return orLost(deps, claimed, releaseTask(deps, claimed, 'its lease was nearly over'));
  }
  const held = claimed.state.claim?.started
    ? claimed
    : await orLost(deps, claimed, startWhenReachable(deps, claimed, options));
  if (held === undefined) return undefined;
  if (held.state.claim?.fence !== held.fence) return held.state;
  // Once more right before the spawn: putting the start on record may have taken its time.
  if (!hasSpawnMargin(deps, held)) {
    return orLost(deps, held, releaseTask(deps, held, 'its lease was nearly over'));
  }
  const lease = keepLease(deps, held);
  const stop = stopSignal(deps, lease.signal, options);
  try {
    const end = await endOf(deps, held, options, stop.signal);
    // What ended is told to stop no more: putting its end on record ends its claim too.
    stop.release();
    const loss = lease.loss();
    if (loss) {
      reportDiscarded(deps, held, loss);
      return undefined;
    }
    const after = told(end, stop.isTimedOut(), options);
    return await orLost(deps, held, finishWhenReachable(deps, held, after, options));
  } finally {
    lease.stop();
  }
}

/**
 * The start is put on record while the lease leaves time for it; a board that is away longer gets the claim
 * back once it answers, and no attempt is counted: else the task would lie there until its lease is over.
 */
async function startWhenReachable(
  deps: QueueDeps,
  claimed: Held,
  { stopping }: RunHeldOptions,
): Promise<Held> {
  for (let tries = 0; ; tries++) {
    const isInTime = hasSpawnMargin(deps, claimed);
    try {
      if (isInTime) return await startOrHandBack(deps, claimed);
      const state = await releaseTask(deps, claimed, 'the board was away when it was to start');
      return { ...claimed, state };
    } catch (error) {
      if (!isUnreachable(error) || tries >= mostFinishTries || stopping.aborted) throw error;
      await deps.clock.sleep(Math.min(5_000, 200 * 2 ** tries), stopping);
    }
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof MeshError && error.code === 'FABRIC_DOWN';

/** A log that others filled meanwhile takes no start: the claim goes back, and the keeper gives the task up. */
async function startOrHandBack(deps: QueueDeps, claimed: Held): Promise<Held> {
  try {
    return await startRun(deps, claimed);
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'CAPACITY') throw error;
    const state = await releaseTask(deps, claimed, 'its log has no room for a run');
    return { ...claimed, state };
  }
}

interface StopSignal {
  readonly signal: AbortSignal;
  readonly isTimedOut: () => boolean;
  /** From here on nothing aborts it any more. */
  release(): void;
}

/**
 * Aborts when the run has to stop: its lease says so, its process stops, or its time is over. Wired by
 * hand: `AbortSignal.any` costs several times as much, and every run would leave a trace on `stopping`.
 */
function stopSignal(
  { clock }: QueueDeps,
  lease: AbortSignal,
  { stopping, policy }: RunHeldOptions,
): StopSignal {
  const stop = new AbortController();
  let timedOut = false;
  const byLease = () => {
    stop.abort(lease.reason);
  };
  const byProcess = () => {
    stop.abort(stopping.reason);
  };
  lease.addEventListener('abort', byLease, { once: true });
  stopping.addEventListener('abort', byProcess, { once: true });
  if (lease.aborted) byLease();
  if (stopping.aborted) byProcess();
  const callOff = clock.after(policy.runTimeoutMs, () => {
    timedOut = true;
    stop.abort('its time is over');
  });
  return {
    signal: stop.signal,
    isTimedOut: () => timedOut,
    release() {
      callOff();
      lease.removeEventListener('abort', byLease);
      stopping.removeEventListener('abort', byProcess);
    },
  };
}

/** What the run's end means, given who told it to stop. */
function told(end: RunEnd, timedOut: boolean, { policy, stopping }: RunHeldOptions): RunEnd {
  if (end.kind === 'done' || stopping.aborted || !timedOut) return end;
  const minutes = Math.round(policy.runTimeoutMs / 60_000);
  return { kind: 'failed', reason: `no result within ${minutes} min`, retryable: true };
}

async function endOf(
  deps: QueueDeps,
  held: Held,
  { policy, runTask, interactive, onChunk, onProgress }: RunHeldOptions,
  signal: AbortSignal,
): Promise<RunEnd> {
  try {
    return await runTask(
      {
        state: held.state,
        fence: held.fence,
        attempt: held.state.attempts,
        agentId: policy.agentId,
        interactive,
        chunk: (text) => onChunk?.(text),
        progress: (text) => onProgress?.(text),
        artifact: (name, mediaType, text) => keepText(deps, name, mediaType, text),
      },
      signal,
    );
  } catch (error) {
    // A runtime rejects only for a fault of ours: nobody can say how far it came.
    deps.log.error('run.fault', { taskId: held.uid, fence: held.fence, reason: reasonOf(error) });
    return { kind: 'failed', reason: 'a fault inside the mesh; see its log', retryable: true };
  }
}

/** Spawn only with enough lease left on both clocks (`DESIGN.md` 4.1). */
function hasSpawnMargin({ clock }: QueueDeps, held: Held): boolean {
  const margin = Math.min(limits.spawnMarginMs, held.leaseMs / 2);
  const used = Math.max(
    clock.monotonicMs() - held.claimedMonotonicMs,
    clock.nowMs() - held.claimedAtMs,
  );
  return held.leaseMs - used >= margin;
}

/**
 * An outcome is held and put on record once the board answers again; the fence guards it meanwhile. A
 * process that stops tries a few times more and then leaves it to the next start, which finds it dead.
 */
async function finishWhenReachable(
  deps: QueueDeps,
  held: Held,
  end: RunEnd,
  { policy, stopping }: RunHeldOptions,
): Promise<TaskState> {
  let left: number = mostFinishTries;
  for (let tries = 0; ; tries++) {
    try {
      return await finishRun(deps, held, await withTaint(deps.board, held.state, policy, end));
    } catch (error) {
      if (stopping.aborted) left = Math.min(left, triesAtStop);
      if (!isUnreachable(error) || left <= 0) throw error;
      left -= 1;
      if (tries === 0) deps.log.warn('run.outcome-held', { taskId: held.uid, fence: held.fence });
      if (stopping.aborted) await deps.clock.sleep(stopPauseMs);
      else await deps.clock.sleep(Math.min(30_000, 200 * 2 ** tries), stopping);
    }
  }
}

/** About 15 minutes of waiting for the board, after which the keeper's expiry decides. */
const mostFinishTries = 36;
/** Of a process that is stopping, within `mesh up`'s own grace. */
const triesAtStop = 4;
const stopPauseMs = 250;

async function orLost<T>(deps: QueueDeps, held: Held, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'LEASE_LOST') {
      // Another event came first (a cancel, a take-back, an expiry): the log decides, not this run.
      if (!(error instanceof MeshError) || error.code !== 'BAD_TRANSITION') throw error;
    }
    reportDiscarded(deps, held, 'overtaken');
    return undefined;
  }
}

function reportDiscarded({ log }: QueueDeps, held: Held, loss: LeaseLoss): void {
  log.warn('run.discarded', { taskId: held.uid, fence: held.fence, reason: loss });
}
