import type { EventOf, TaskEvent, TaskEventKind } from './events.ts';
import { limits } from './limits.ts';
import { refuse, type TaskState, type Transition } from './state.ts';
import * as claiming from './transition/claiming.ts';
import * as ending from './transition/ending.ts';
import * as intake from './transition/intake.ts';
import * as questions from './transition/questions.ts';
import * as records from './transition/records.ts';

/**
 * Kinds that are still appended once a log is nearly full (`DESIGN.md` 11): how the last run ended, by
 * whoever says it, and what people decide. No claim is among them, so the log ends.
 */
const keptToTheEnd: ReadonlySet<TaskEvent['kind']> = new Set<TaskEvent['kind']>([
  'settled',
  'failed',
  'uncertain',
  'released',
  'parked',
  'expired',
  'revoked',
  'cancelRequested',
  'answered',
  'canceled',
  'verified',
  'refused',
  'archived',
  'deadLettered',
]);

/**
 * The whole table 4.4: what `event` makes of `before`, or why it does not apply. Pure and total.
 * The event brings its author and its time; who may see a task is another question (`access.ts`).
 */
export function transition(before: TaskState | undefined, event: TaskEvent): Transition {
  if (before === undefined) {
    return event.kind === 'submitted' ? intake.submitted(event) : refuse('noTask');
  }
  if (before.version >= limits.versions) return refuse('versionsSpent');
  if (before.version + 1 >= limits.reservedFromVersion && !keptToTheEnd.has(event.kind)) {
    return refuse('versionsSpent');
  }
  return applied(before, event);
}

type Rules = {
  readonly [K in TaskEventKind]: (before: TaskState, event: EventOf<K>) => Transition;
};

/** One rule a kind: a new event does not compile until it has one. */
const rules: Rules = {
  submitted: () => refuse('alreadySubmitted'),
  admitted: intake.admitted,
  edited: intake.edited,
  routed: intake.routed,
  paused: intake.paused,
  resumed: intake.resumed,
  claimed: claiming.claimed,
  started: claiming.started,
  released: claiming.released,
  expired: claiming.expired,
  failed: claiming.failed,
  parked: claiming.parked,
  deferred: claiming.deferred,
  uncertain: claiming.uncertain,
  settled: claiming.settled,
  revokeRequested: claiming.revokeRequested,
  revoked: claiming.revoked,
  asked: questions.asked,
  answered: questions.answered,
  split: questions.split,
  cancelRequested: ending.cancelRequested,
  canceled: ending.canceled,
  reviewStarted: ending.reviewStarted,
  reviewed: ending.reviewed,
  verified: ending.verified,
  refused: ending.refused,
  deadLettered: ending.deadLettered,
  archived: ending.archived,
  noted: records.noted,
  linked: records.linked,
  receipted: records.receipted,
  // Intake sources and the deployer are not served yet; their rows of the table refuse.
  awaited: () => refuse('notServedYet'),
  arrived: () => refuse('notServedYet'),
  deployStarted: () => refuse('notServedYet'),
  deployed: () => refuse('notServedYet'),
};

function applied(before: TaskState, event: TaskEvent): Transition {
  // Kind and rule belong together by the type above; TypeScript can't join the two unions by itself.
  const rule = rules[event.kind] as (before: TaskState, event: TaskEvent) => Transition;
  return rule(before, event);
}
