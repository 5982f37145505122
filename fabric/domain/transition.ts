import type { TaskEvent } from './events.ts';
import { limits } from './limits.ts';
import { refuse, type TaskState, type Transition } from './state.ts';
import * as claiming from './transition/claiming.ts';
import * as ending from './transition/ending.ts';
import * as intake from './transition/intake.ts';
import * as questions from './transition/questions.ts';
import * as records from './transition/records.ts';

/** Kinds that are still appended once a log is nearly full (`DESIGN.md` 11). */
const keptToTheEnd: ReadonlySet<TaskEvent['kind']> = new Set<TaskEvent['kind']>([
  'settled',
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

function applied(before: TaskState, event: TaskEvent): Transition {
  switch (event.kind) {
    case 'submitted':
      return refuse('alreadySubmitted');
    case 'admitted':
      return intake.admitted(before, event);
    case 'edited':
      return intake.edited(before, event);
    case 'routed':
      return intake.routed(before, event);
    case 'paused':
      return intake.paused(before, event);
    case 'resumed':
      return intake.resumed(before, event);
    case 'claimed':
      return claiming.claimed(before, event);
    case 'started':
      return claiming.started(before, event);
    case 'released':
      return claiming.released(before, event);
    case 'expired':
      return claiming.expired(before, event);
    case 'failed':
      return claiming.failed(before, event);
    case 'parked':
      return claiming.parked(before, event);
    case 'deferred':
      return claiming.deferred(before, event);
    case 'awaited':
      return claiming.awaited(before, event);
    case 'uncertain':
      return claiming.uncertain(before, event);
    case 'settled':
      return claiming.settled(before, event);
    case 'revokeRequested':
      return claiming.revokeRequested(before, event);
    case 'revoked':
      return claiming.revoked(before, event);
    case 'asked':
      return questions.asked(before, event);
    case 'answered':
      return questions.answered(before, event);
    case 'split':
      return questions.split(before, event);
    case 'cancelRequested':
      return ending.cancelRequested(before, event);
    case 'canceled':
      return ending.canceled(before, event);
    case 'reviewStarted':
      return ending.reviewStarted(before, event);
    case 'reviewed':
      return ending.reviewed(before, event);
    case 'verified':
      return ending.verified(before, event);
    case 'refused':
      return ending.refused(before, event);
    case 'deadLettered':
      return ending.deadLettered(before, event);
    case 'archived':
      return ending.archived(before, event);
    case 'noted':
      return records.noted(before, event);
    case 'linked':
      return records.linked(before, event);
    case 'receipted':
      return records.receipted(before, event);
    // Intake sources and the deployer are not served yet; their rows of the table refuse.
    case 'arrived':
    case 'deployStarted':
    case 'deployed':
      return refuse('notServedYet');
  }
}
