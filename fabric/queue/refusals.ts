import { MeshError, type MeshErrorCode } from '../domain/errors.ts';
import type { TaskEventKind } from '../domain/events.ts';
import type { TaskId } from '../domain/ids.ts';
import type { RefusalReason, TaskState } from '../domain/state.ts';

/** What each refusal of the core means to a caller: its code, and what to do. */
const table: Readonly<Record<RefusalReason, readonly [MeshErrorCode, string]>> = {
  noTask: ['NOT_FOUND', 'There is no such task.'],
  alreadySubmitted: ['BAD_TRANSITION', 'It was submitted before.'],
  wrongPhase: [
    'BAD_TRANSITION',
    'Look at the task again (`mesh show`) and do what its state allows.',
  ],
  notHolder: ['LEASE_LOST', 'Somebody else holds it. Stop and discard this run.'],
  staleFence: ['LEASE_LOST', 'It was claimed again. Stop and discard this run.'],
  wrongAttempt: [
    'LEASE_LOST',
    'Another run was counted in between. Read the task and claim it anew.',
  ],
  attemptsSpent: ['CLAIM_REJECTED', 'Its attempts are spent; the keeper moves it to dead letter.'],
  notDue: ['CLAIM_REJECTED', 'It is scheduled for later.'],
  humanOnly: ['TRUST_DENIED', 'Only a person may do this.'],
  notAddressee: ['STALE_DECISION', 'The question is addressed to somebody else.'],
  wrongDecision: ['STALE_DECISION', 'That question is not open any more. See `mesh inbox`.'],
  notAnOption: ['VALIDATION_ERROR', 'Answer with one of the options of the question.'],
  decisionsFull: ['CAPACITY', 'The task has asked its 64 questions. End it and submit a new one.'],
  notVerifier: ['NOT_VERIFIER', 'You are not among those who may verify it.'],
  producerCannotVerify: [
    'NOT_VERIFIER',
    'Who made the result may not verify it; ask somebody else.',
  ],
  alreadyCompleted: [
    'BAD_TRANSITION',
    'It was completed without verification and can’t be refused any more; submit a rework.',
  ],
  notReviewer: ['NOT_VERIFIER', 'Only a reviewer may do this.'],
  notCanceler: ['TRUST_DENIED', 'Only its submitter or a person may cancel it.'],
  reworkNeeded: ['BAD_TRANSITION', 'It has ended; submit a rework.'],
  receiptConflict: [
    'RECEIPT_CONFLICT',
    'A differing receipt is on record; evidence is never replaced.',
  ],
  versionsSpent: ['CAPACITY', 'Its log is full (512 events). Cancel it and submit a new task.'],
  notServedYet: ['BAD_TRANSITION', 'No deployer or intake source is served by this mesh.'],
};

/** What to do: for some refusals it depends on the task. */
function adviceFor(reason: RefusalReason, kind: TaskEventKind, state?: TaskState): string {
  const options = state?.question?.options ?? [];
  if (reason === 'notAnOption' && options.length > 0) {
    return `Answer with one of: ${options.map((option) => `"${option}"`).join(', ')}.`;
  }
  const isGivenUp = state?.phase === 'dead-letter' && kind !== 'archived';
  if (reason === 'wrongPhase' && isGivenUp) {
    return (
      'It was given up and runs no more. Submit it again as a new task (`mesh submit`, with another key), or put ' +
      'it away with `mesh task archive`.'
    );
  }
  return table[reason][1];
}

/** An event that its task's state refuses, as an error for the caller. */
export class RefusedError extends MeshError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, kind: TaskEventKind, uid: TaskId, state?: TaskState) {
    const [code] = table[reason];
    const advice = adviceFor(reason, kind, state);
    const phase = state ? ` while it is ${state.phase}` : '';
    super(code, `Task ${uid} does not take "${kind}"${phase} (${reason}). ${advice}`, {
      taskId: uid,
      reason,
      ...(state ? { phase: state.phase } : {}),
    });
    this.name = 'RefusedError';
    this.reason = reason;
  }
}

/** The answer of an unknown id; also for a task that the caller may not see. */
export function unknownTask(taskRef: string): MeshError {
  return new MeshError('NOT_FOUND', `There is no task ${taskRef} that you may see.`);
}
