import type { Author, EventOf } from '../events.ts';
import { Fence } from '../ids.ts';
import { limits } from '../limits.ts';
import {
  hasRoomForRun,
  refuse,
  to,
  type Phase,
  type RefusalReason,
  type TaskState,
  type Transition,
} from '../state.ts';
import type { Claim } from '../task.ts';
import { parkedUntilMs } from './park.ts';
import { reconcileQuestion } from './questions.ts';

type Held = TaskState & { readonly claim: Claim };

/** Why `by` does not hold the claim at `fence`; undefined when it does. */
function notHeld(state: TaskState, by: Author, fence: number): RefusalReason | undefined {
  if (state.claim === undefined) return 'wrongPhase';
  if (state.claim.fence !== fence) return 'staleFence';
  return state.claim.holder === by.id ? undefined : 'notHolder';
}

const isWorking = (state: TaskState): state is Held => state.phase === 'working';

export function claimed(before: TaskState, event: EventOf<'claimed'>): Transition {
  if (before.phase !== 'ready' && before.phase !== 'scheduled') return refuse('wrongPhase');
  if (before.notBeforeAtMs !== undefined && event.atMs < before.notBeforeAtMs)
    return refuse('notDue');
  if (event.holder !== event.by.id) return refuse('notHolder');
  if (before.attempts >= limits.attempts) return refuse('attemptsSpent');
  if (!hasRoomForRun(before)) return refuse('versionsSpent');
  const startsNow = event.attempt !== undefined;
  if (startsNow && event.attempt !== before.attempts + 1) return refuse('wrongAttempt');
  const claim: Claim = {
    fence: Fence.parse(before.version + 1),
    holder: event.holder,
    incarnation: event.incarnation,
    leaseMs: event.leaseMs,
    started: startsNow,
    claimedAtMs: event.atMs,
  };
  return to(
    before,
    event,
    startsNow
      ? { phase: 'working', claim, everWorked: true, ...startOf(before, claim) }
      : { phase: 'claimed', claim, everWorked: true },
    ['parked', 'notBeforeAtMs'],
  );
}

const startOf = (before: TaskState, claim: Claim) => ({
  attempts: before.attempts + 1,
  lastStartedBy: claim.holder,
});

/** Appended before the spawn: an attempt counts even if its run kills the worker (bug log G-17). */
export function started(before: TaskState, event: EventOf<'started'>): Transition {
  if (before.phase !== 'claimed' || before.claim === undefined) return refuse('wrongPhase');
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  // A person took it back before it began: the holder appends `revoked` instead.
  if (before.revokeTo !== undefined) return refuse('wrongPhase');
  if (event.attempt !== before.attempts + 1) return refuse('wrongAttempt');
  const claim = { ...before.claim, started: true };
  return to(before, event, { phase: 'working', claim, ...startOf(before, claim) });
}

/** Ends the claim; a started external run becomes a question for a person instead. */
function leaveWorking(
  before: TaskState,
  event: EventOf<
    'released' | 'expired' | 'failed' | 'parked' | 'uncertain' | 'revoked' | 'canceled'
  >,
  next: Partial<TaskState>,
  reason: string,
): Transition {
  if (before.task.effects === 'external') return toReview(before, event, reason);
  const drop: (keyof TaskState)[] = ['claim', 'revokeTo'];
  if (event.kind !== 'parked') drop.push('parks');
  return to(before, event, { ...next, ...wished(before, next.phase) }, drop);
}

/**
 * Where a claim that ends without a result leads: a person's cancel or take-back that the holder did
 * not get to obey is obeyed now, or it would be lost with the claim.
 */
function wished(before: TaskState, phase: Phase = 'ready'): { readonly phase: Phase } {
  if (before.cancelRequested) return { phase: 'canceled' };
  return { phase: phase === 'ready' ? (before.revokeTo ?? phase) : phase };
}

/** A person wants it ended or back: the run may end, not put itself off. */
const isCalledBack = (state: TaskState): boolean =>
  state.cancelRequested || state.revokeTo !== undefined;

const endClaim = (before: TaskState, event: EventOf<'released' | 'expired' | 'revoked'>) =>
  to(before, event, wished(before), ['claim', 'revokeTo']);

/** To needs-review, with the question that only a human answers. */
export function toReview(
  before: TaskState,
  event: EventOf<
    'released' | 'expired' | 'failed' | 'parked' | 'uncertain' | 'revoked' | 'canceled'
  >,
  reason: string,
): Transition {
  return to(
    before,
    event,
    { phase: 'needs-review', failure: reason, question: reconcileQuestion(before, reason) },
    ['claim', 'revokeTo', 'askedFrom', 'parks'],
  );
}

/** The holder hands it back unharmed (a stop of its process): the attempt is given back. */
export function released(before: TaskState, event: EventOf<'released'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (before.phase === 'claimed') return endClaim(before, event);
  if (!isWorking(before)) return refuse('wrongPhase');
  return leaveWorking(before, event, handedBack(before), event.reason);
}

const handedBack = (before: TaskState): Partial<TaskState> => ({
  phase: 'ready',
  attempts: before.attempts - 1,
});

/** Somebody saw no beat for a whole lease, or holds proof of death. */
export function expired(before: TaskState, event: EventOf<'expired'>): Transition {
  if (before.claim === undefined) return refuse('wrongPhase');
  if (before.claim.fence !== event.fence) return refuse('staleFence');
  const observes = event.by.role === 'keeper' || event.by.role === 'fabric';
  if (!observes && before.claim.holder !== event.by.id) return refuse('notHolder');
  if (before.phase === 'claimed') return endClaim(before, event);
  return leaveWorking(before, event, afterLoss(before, event.reason), event.reason);
}

/** A lost or failed run of a repeatable task: again while attempts are left, else dead letter. */
function afterLoss(before: TaskState, failure: string): Partial<TaskState> {
  if (before.attempts >= limits.attempts) return { phase: 'dead-letter', failure };
  return { phase: 'ready', failure };
}

export function failed(before: TaskState, event: EventOf<'failed'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (!isWorking(before)) return refuse('wrongPhase');
  const next = event.retryable
    ? afterLoss(before, event.reason)
    : { phase: 'dead-letter' as const, failure: event.reason };
  return leaveWorking(before, event, next, event.reason);
}

/** A quota or gateway wall: no attempt counted, waits for availability, the longer the more often in a row. */
export function parked(before: TaskState, event: EventOf<'parked'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (!isWorking(before)) return refuse('wrongPhase');
  const parks = (before.parks ?? 0) + 1;
  const untilMs = parkedUntilMs(event.atMs, parks, event.untilMs);
  const next = { ...handedBack(before), parks, parked: { reason: event.reason, untilMs } };
  return leaveWorking(before, event, next, event.reason);
}

export function deferred(before: TaskState, event: EventOf<'deferred'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (!isWorking(before)) return refuse('wrongPhase');
  if (isCalledBack(before)) return refuse('wrongPhase');
  if (event.wakeAtMs <= event.atMs) return refuse('notDue');
  return to(
    before,
    event,
    { ...handedBack(before), phase: 'scheduled', notBeforeAtMs: event.wakeAtMs },
    ['claim', 'revokeTo', 'parks'],
  );
}

/** Nobody can say what the run did: never repeated without a person. */
export function uncertain(before: TaskState, event: EventOf<'uncertain'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (!isWorking(before)) return refuse('wrongPhase');
  return toReview(before, event, event.reason);
}

export function settled(before: TaskState, event: EventOf<'settled'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (!isWorking(before)) return refuse('wrongPhase');
  return to(
    before,
    event,
    {
      phase: 'done',
      outcome: event.outcome,
      producer: before.claim.holder,
      needsHumanVerify: before.needsHumanVerify || event.outcome.tainted === true,
    },
    ['claim', 'revokeTo', 'failure'],
  );
}

/** A person takes a running task back; the holder stops first and appends `revoked`. */
export function revokeRequested(before: TaskState, event: EventOf<'revokeRequested'>): Transition {
  if (before.phase !== 'working' && before.phase !== 'claimed') return refuse('wrongPhase');
  if (event.by.role !== 'human') return refuse('humanOnly');
  return to(before, event, { revokeTo: event.to });
}

export function revoked(before: TaskState, event: EventOf<'revoked'>): Transition {
  const reason = notHeld(before, event.by, event.fence);
  if (reason) return refuse(reason);
  if (before.revokeTo === undefined) return refuse('wrongPhase');
  if (before.phase === 'claimed') return endClaim(before, event);
  // Taken back is not failed: a person who drags it thrice must not find it in the dead letters.
  return leaveWorking(before, event, handedBack(before), 'taken back by a person');
}
