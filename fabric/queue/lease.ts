import { reasonOf } from '../domain/errors.ts';
import type { TaskState } from '../domain/state.ts';
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
  const stopped = new AbortController();
  const run = new AbortController();
  let loss: LeaseLoss | undefined;
  let last = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  let lastAnswerMs = last.monotonicMs;

  const lose = (reason: LeaseLoss) => {
    loss ??= reason;
    run.abort(reason);
  };
  const look = (state: TaskState | undefined) => {
    if (stopped.signal.aborted) return;
    if (state?.claim?.fence !== held.fence) lose('overtaken');
    else if (state.cancelRequested || state.revokeTo) run.abort('told to stop');
  };
  const isOver = () => stopped.signal.aborted || loss !== undefined;
  const unwatch = board.watch((uid, state) => {
    // A hint may come late: what the log was before our claim says nothing about it.
    if (uid === held.uid && state.version >= held.fence) look(state);
  });

  /** Looks at both clocks; a gap of a whole lease since the last look means that others gave it up. */
  const wasAsleep = (): boolean => {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const asleepMs = Math.max(now.wallMs - last.wallMs, now.monotonicMs - last.monotonicMs);
    last = now;
    if (asleepMs >= held.leaseMs) lose('paused');
    return asleepMs >= held.leaseMs;
  };
  const beat = async () => {
    if (wasAsleep()) return;
    try {
      await board.beat(held.uid, held.fence);
      // A pause may have fallen between a question and its answer, here and below.
      if (wasAsleep()) return;
      look((await board.read(held.uid))?.state);
      lastAnswerMs = clock.monotonicMs();
    } catch (error) {
      log.debug('lease.no-answer', { taskId: held.uid, reason: reasonOf(error) });
      if (clock.monotonicMs() - lastAnswerMs >= unreachableMs) lose('unreachable');
    }
    wasAsleep();
  };
  void (async () => {
    // The first beat is due a third of the lease after the claim, not after the start of the run.
    const used = clock.monotonicMs() - held.claimedMonotonicMs;
    let waitMs = Math.max(0, held.leaseMs / 3 - used);
    while (!isOver()) {
      await clock.sleep(waitMs, stopped.signal);
      if (!isOver()) await beat();
      waitMs = held.leaseMs / 3;
    }
  })();

  return {
    signal: run.signal,
    loss: () => loss,
    stop: () => {
      stopped.abort('run ended');
      unwatch();
    },
  };
}
