import type { EventOf } from '../events.ts';
import { refuse, to, type Phase, type TaskState, type Transition } from '../state.ts';
import { toReview } from './claiming.ts';

/** Phases that end at once when canceled, since nobody runs them. */
const canceledAtOnce: ReadonlySet<Phase> = new Set<Phase>([
  'submitted',
  'ready',
  'scheduled',
  'paused',
  'claimed',
  'waiting-event',
  'input-required',
  'needs-review',
]);

const mayCancel = (state: TaskState, event: EventOf<'canceled' | 'cancelRequested'>): boolean =>
  event.by.role === 'human' || event.by.id === state.task.provenance.submitter;

/** Working: the holder stops first and then appends `canceled` itself. */
export function cancelRequested(before: TaskState, event: EventOf<'cancelRequested'>): Transition {
  if (before.phase !== 'working') return refuse('wrongPhase');
  if (!mayCancel(before, event)) return refuse('notCanceler');
  return to(before, event, { cancelRequested: true });
}

export function canceled(before: TaskState, event: EventOf<'canceled'>): Transition {
  if (before.phase === 'working') {
    if (!before.cancelRequested) return refuse('wrongPhase');
    if (before.claim?.fence !== event.fence) return refuse('staleFence');
    if (before.claim?.holder !== event.by.id) return refuse('notHolder');
    if (before.task.effects === 'external') {
      return toReview(before, event, 'canceled while it acted outside');
    }
    return to(before, event, { phase: 'canceled' }, ['claim', 'revokeTo']);
  }
  if (!canceledAtOnce.has(before.phase)) return refuse('wrongPhase');
  if (!mayCancel(before, event)) return refuse('notCanceler');
  if (before.phase === 'needs-review' && event.by.role !== 'human') return refuse('humanOnly');
  return to(before, event, { phase: 'canceled', cancelRequested: true }, [
    'claim',
    'question',
    'askedFrom',
    'revokeTo',
  ]);
}

export function reviewStarted(before: TaskState, event: EventOf<'reviewStarted'>): Transition {
  if (before.phase !== 'done' || before.task.verification !== 'reviewer')
    return refuse('wrongPhase');
  if (before.needsHumanVerify) return refuse('humanOnly');
  if (event.by.role !== 'fabric') return refuse('notReviewer');
  return to(before, event, { phase: 'reviewing' });
}

export function reviewed(before: TaskState, event: EventOf<'reviewed'>): Transition {
  if (before.phase !== 'reviewing') return refuse('wrongPhase');
  if (event.by.id === before.producer) return refuse('producerCannotVerify');
  if (event.by.role !== 'agent' && event.by.role !== 'human') return refuse('notReviewer');
  const verdict = verdictOf(event);
  switch (event.verdict) {
    case 'approve':
      return to(before, event, { phase: 'approved', verdict });
    case 'reject':
      return to(before, event, { phase: 'refused', verdict });
    case 'escalate':
      return to(before, event, { phase: 'done', needsHumanVerify: true });
  }
}

function verdictOf(event: EventOf<'reviewed' | 'verified' | 'refused'>) {
  return {
    by: event.by.id,
    atMs: event.atMs,
    ...(event.note === undefined ? {} : { note: event.note }),
    ...(event.kind === 'verified' && event.commit !== undefined ? { commit: event.commit } : {}),
  };
}

/** Who may close it, as far as the log knows: never the producer; only a human where that is asked. */
function notVerifier(before: TaskState, event: EventOf<'verified' | 'refused'>) {
  if (before.phase !== 'done' && before.phase !== 'approved') return refuse('wrongPhase');
  if (event.by.id === before.producer) return refuse('producerCannotVerify');
  if (event.by.role !== 'human' && event.by.role !== 'agent') return refuse('notVerifier');
  if (before.needsHumanVerify && event.by.role !== 'human') return refuse('humanOnly');
  return undefined;
}

export function verified(before: TaskState, event: EventOf<'verified'>): Transition {
  return (
    notVerifier(before, event) ??
    to(before, event, { phase: 'verified', verdict: verdictOf(event) })
  );
}

export function refused(before: TaskState, event: EventOf<'refused'>): Transition {
  const no = notVerifier(before, event);
  if (no) return no;
  // COMPLETED was published when it got done; an ended task never changes (bug log G-09).
  if (before.task.verification === 'none') return refuse('alreadyCompleted');
  return to(before, event, {
    phase: 'refused',
    verdict: verdictOf(event),
    ...(event.rework ? { reworkedAs: event.rework } : {}),
  });
}

const mayBeGivenUp: ReadonlySet<Phase> = new Set<Phase>([
  'ready',
  'scheduled',
  'claimed',
  'working',
]);

/** Attempts spent, poison, or a log without room for another run; parking alone never leads here. */
export function deadLettered(before: TaskState, event: EventOf<'deadLettered'>): Transition {
  if (!mayBeGivenUp.has(before.phase)) return refuse('wrongPhase');
  const isHolder = before.claim?.holder === event.by.id;
  if (event.by.role !== 'keeper' && event.by.role !== 'human' && !isHolder) {
    return refuse('notHolder');
  }
  return to(before, event, { phase: 'dead-letter', failure: event.reason }, ['claim', 'revokeTo']);
}

const archivable: ReadonlySet<Phase> = new Set<Phase>([
  'suggested',
  'submitted',
  'ready',
  'scheduled',
  'paused',
  'dead-letter',
  'done',
]);

export function archived(before: TaskState, event: EventOf<'archived'>): Transition {
  if (!archivable.has(before.phase)) return refuse('wrongPhase');
  const retention =
    event.by.role === 'keeper' && before.task.verification === 'none' && before.phase === 'done';
  if (event.by.role !== 'human' && !retention) return refuse('humanOnly');
  const next = to(before, event, { phase: 'archived', phaseBeforeArchive: before.phase });
  if (!retention || !next.ok) return next;
  // Nothing happened to it for the world outside: it keeps its place among what has ended.
  return { ok: true, state: { ...next.state, phaseAtMs: before.phaseAtMs } };
}
