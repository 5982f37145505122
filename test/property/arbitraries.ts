import fc from 'fast-check';
import type { TaskEvent, TaskEventKind } from '../../fabric/domain/events.ts';
import type { Phase, TaskState } from '../../fabric/domain/state.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { builtAtMs } from '../support/board-builders.ts';
import { cast, eventKinds, rightEventOf } from '../support/right-event.ts';
import { firstEvent, unroutedTask } from '../support/task-in-phase.ts';

/** One try to change a task: a kind, and what is wrong with it, if anything. */
export interface Try {
  readonly kind: TaskEventKind;
  /** Takes a kind that gets the task on from where it is, instead. */
  readonly isLikely: boolean;
  /** Who says it; undefined: the one who should. */
  readonly by: keyof typeof cast | undefined;
  /** Fence, attempt or decision of some earlier state instead of the present one. */
  readonly isStale: boolean;
  readonly choice: number;
  readonly laterMs: number;
}

const run = ['started', 'started', 'released', 'expired', 'canceled'] as const;
/** What gets a task on from each phase, so that long histories get somewhere. */
const likely: Partial<Record<Phase, readonly TaskEventKind[]>> = {
  suggested: ['admitted'],
  submitted: ['admitted', 'asked', 'paused'],
  ready: [
    'claimed',
    'claimed',
    'claimed',
    'claimed',
    'claimed',
    'claimed',
    'claimed',
    'asked',
    'canceled',
    'deadLettered',
    'paused',
  ],
  scheduled: ['claimed', 'claimed', 'asked'],
  paused: ['resumed', 'archived'],
  claimed: [...run, 'started', 'started', 'revokeRequested', 'revoked'],
  working: [
    'settled',
    'settled',
    'settled',
    'settled',
    'expired',
    'failed',
    'parked',
    'deferred',
    'asked',
    'asked',
    'uncertain',
    'cancelRequested',
    'canceled',
    'revokeRequested',
    'revoked',
  ],
  'input-required': ['answered', 'answered', 'answered', 'split'],
  'needs-review': ['answered'],
  done: ['reviewStarted', 'reviewStarted', 'reviewStarted', 'verified', 'refused', 'archived'],
  reviewing: ['reviewed'],
  approved: ['verified', 'refused'],
  'dead-letter': ['archived'],
};

const authors = Object.keys(cast) as (keyof typeof cast)[];

export const tryToChange: fc.Arbitrary<Try> = fc.record({
  kind: fc.constantFrom(...eventKinds),
  isLikely: fc.nat(9).map((n) => n < 7),
  by: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...authors) },
  ),
  isStale: fc.nat(9).map((n) => n === 0),
  choice: fc.nat(7),
  laterMs: fc.nat(120_000),
});

/** What a task may be at its submit, as far as the table looks at it. */
export const definition: fc.Arbitrary<TaskDefinition> = fc
  .record({
    effects: fc.constantFrom('none', 'workspace', 'external'),
    verification: fc.constantFrom('submitter', 'reviewer', 'human', 'none'),
    tainted: fc.boolean(),
    admitted: fc.boolean(),
  })
  .map((change) => unroutedTask(change));

export const start = fc.constantFrom(
  ...(['ready', 'ready', 'ready', 'submitted', 'suggested', 'scheduled'] as const),
);

const choices: Partial<Record<TaskEventKind, readonly object[]>> = {
  failed: [{ retryable: true }, { retryable: false }],
  reviewed: [{ verdict: 'approve' }, { verdict: 'reject' }, { verdict: 'escalate' }],
  revokeRequested: [{ to: 'ready' }, { to: 'submitted' }, { to: 'paused' }],
  settled: [{}, { outcome: { summary: 'Done.', artifacts: [], tainted: true } }],
  receipted: [
    { key: 'comment', status: 'sending', digest: 'd1' },
    { key: 'comment', status: 'published', digest: 'd1' },
    { key: 'comment', status: 'unknown', digest: 'd2' },
    { key: '__proto__', status: 'published', digest: 'd1' },
  ],
  edited: [
    { priority: 1 },
    { score: 8 },
    { title: 'Another title', body: 'Other words.' },
    { notBeforeAtMs: builtAtMs + 5 },
    { notBeforeAtMs: null },
  ],
};

/** The event that a try means, seen from `state`; a stale one speaks of `before`. */
export function eventFor(state: TaskState, before: TaskState, attempt: Try): TaskEvent {
  const kinds = likely[state.phase];
  if (attempt.isLikely && kinds) {
    const kind = kinds[(attempt.choice + attempt.laterMs) % kinds.length]!;
    return eventFor(state, before, { ...attempt, kind, isLikely: false });
  }
  const seen = attempt.isStale ? before : state;
  const event = rightEventOf(seen, attempt.kind);
  const options = choices[attempt.kind] ?? [{}];
  return {
    ...event,
    ...options[attempt.choice % options.length],
    ...answerOf(seen, attempt),
    ...questionOf(seen, attempt),
    ...(attempt.by ? { by: cast[attempt.by] } : {}),
    ...(attempt.kind === 'claimed' && attempt.choice > 4 ? { attempt: seen.attempts + 1 } : {}),
    atMs: builtAtMs + attempt.laterMs,
  };
}

function answerOf({ question }: TaskState, { kind, choice }: Try): object {
  if (kind !== 'answered' || question === undefined || question.options.length === 0) return {};
  return { value: question.options[choice % question.options.length] };
}

function questionOf(state: TaskState, { kind, choice }: Try): object {
  if (kind !== 'asked' || choice < 3) return {};
  const event = rightEventOf(state, 'asked');
  if (event.kind !== 'asked') return {};
  const kindOf = (['gate', 'escalation', 'rating', 'deadline', 'reconcile'] as const)[choice - 3]!;
  const options = {
    gate: ['yes', 'no'],
    escalation: ['retry', 'wider-tier', 'cancel'],
    rating: ['1', 'huge', '13'],
    deadline: ['go on', 'cancel'],
    reconcile: ['ready', 'done', 'dead-letter', 'canceled'],
  }[kindOf];
  return { question: { ...event.question, kind: kindOf, options } };
}

/** One step of a history: what was tried, and what the table made of it. */
export interface Step {
  readonly before: TaskState;
  readonly event: TaskEvent;
  readonly after: TaskState | undefined;
}

/** Everything that was tried on one task, in order; refused tries change nothing. */
export function played(
  task: TaskDefinition,
  from: Parameters<typeof firstEvent>[1],
  tries: readonly Try[],
) {
  const first = firstEvent(task, from);
  const begun = transition(undefined, first);
  if (!begun.ok) throw new Error('a submit always begins a task');
  const steps: Step[] = [];
  let state = begun.state;
  const seen = [state];
  for (const attempt of tries) {
    const before = seen[attempt.choice % seen.length]!;
    const event = eventFor(state, before, attempt);
    const next = transition(state, event);
    steps.push({ before: state, event, after: next.ok ? next.state : undefined });
    if (!next.ok) continue;
    state = next.state;
    seen.push(state);
  }
  const accepted = steps.flatMap((step) => (step.after ? [step.event] : []));
  return { log: [first, ...accepted], steps, state };
}

export const history = fc
  .tuple(definition, start, fc.array(tryToChange, { maxLength: 40, size: 'max' }))
  .map(([task, from, tries]) => played(task, from, tries));
