import { reasonOf } from '../domain/errors.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Held } from './claim.ts';
import type { QueueDeps } from './deps.ts';

/** Why a holder may not go on. */
export type LeaseLoss = 'overtaken' | 'paused' | 'unreachable';

export interface KeptLease {
  /** Aborts when the run must stop: lost, canceled or taken back. */
  readonly signal: AbortSignal;
  /** Set when nothing of the run may be put on record. */
  loss(): LeaseLoss | undefined;
  stop(): void;
}

/** How long a holder goes on while its beats get no answer (`DESIGN.md` 4.1). */
const unreachableMs = 15 * 60_000;

/**
 * Beats every third of the lease and watches the log: a later claim, a cancel or a take-back stops the
 * run, and so does finding that this process slept past its lease on either clock.
 */
export function keepLease(deps: QueueDeps, held: Held): KeptLease {
  const { board, clock, log } = deps;
  let isStopped = false;
  const run = new AbortController();
  let loss: LeaseLoss | undefined;
  const longestGapMs = gapMeter(clock);
  let lastAnswerMs = clock.monotonicMs();

  const lose = (reason: LeaseLoss) => {
    loss ??= reason;
    run.abort(reason);
  };
  const look = (state: TaskState | undefined) => {
    if (isStopped) return;
    if (state?.claim?.fence !== held.fence) lose('overtaken');
    else if (state.cancelRequested || state.revokeTo) run.abort('told to stop');
  };
  const isOver = () => isStopped || loss !== undefined;
  const unwatch = board.watch((uid, state) => {
    // A hint may come late: what the log was before our claim says nothing about it.
    if (uid === held.uid && state.version >= held.fence) look(state);
  });

  /** A gap of a whole lease since the last look means that others gave it up. */
  const wasAsleep = (): boolean => {
    const isOverdue = longestGapMs() >= held.leaseMs;
    if (isOverdue) lose('paused');
    return isOverdue;
  };
  const beat = async () => {
    if (wasAsleep()) return;
    try {
      await board.beat(held.uid, held.fence);
      // A pause may have fallen between a question and its answer, here and below.
      if (wasAsleep()) return;
      look((await board.known(held.uid))?.state);
      lastAnswerMs = clock.monotonicMs();
    } catch (error) {
      log.debug('lease.no-answer', { taskId: held.uid, reason: reasonOf(error) });
      if (clock.monotonicMs() - lastAnswerMs >= unreachableMs) lose('unreachable');
    }
    wasAsleep();
  };
  let callOff: () => void;
  const beatAfter = (waitMs: number) => {
    callOff = deps.clock.after(waitMs, () => {
      if (isOver()) return;
      void beat().then(() => {
        if (!isOver()) beatAfter(held.leaseMs / 3);
      });
    });
  };
  // The first beat is due a third of the lease after the claim, not after the start of the run.
  const used = clock.monotonicMs() - held.claimedMonotonicMs;
  beatAfter(Math.max(0, held.leaseMs / 3 - used));

  return {
    signal: run.signal,
    loss: () => loss,
    stop: () => {
      isStopped = true;
      callOff();
      unwatch();
    },
  };
}

/** How long it is since the last call, ms, by the clock on which it is longer. */
function gapMeter(clock: Clock): () => number {
  let last = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  return () => {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const gapMs = Math.max(now.wallMs - last.wallMs, now.monotonicMs - last.monotonicMs);
    last = now;
    return gapMs;
  };
}
