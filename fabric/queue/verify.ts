import { maySee, mayVerify } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { linkOnce, requireScope } from './answer.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';
import { submitTask } from './submit.ts';

export interface Verification {
  readonly principal: Principal;
  readonly uid: TaskId;
  readonly verdict: 'verified' | 'refused';
  readonly note?: string;
  readonly commit?: string;
  /** With `refused`: submit the work again, with the note, as a new task. */
  readonly rework?: boolean;
}

/**
 * Closes a finished task, or refuses it. Never by its producer. The same verdict again is a no-op.
 * @throws MeshError `NOT_FOUND`, `NOT_VERIFIER`, `TRUST_DENIED`, `BAD_TRANSITION`, `VALIDATION_ERROR`
 */
export async function verifyTask(deps: QueueDeps, asked: Verification): Promise<TaskState> {
  const { principal, uid, verdict, note, commit } = asked;
  requireScope(principal, 'tasks:verify');
  if (verdict === 'refused' && !note) {
    throw new MeshError('VALIDATION_ERROR', 'A refusal needs a note that says what is missing.', {
      path: 'note',
    });
  }
  const state = await change(deps, uid, (log) => {
    if (!maySee(log.state, principal)) throw unknownTask(uid);
    if (isSameAgain(log.state, asked)) return undefined;
    refuseOutsiders(log.state, principal);
    const by = authorOf(principal);
    if (verdict === 'refused') return eventOf(deps, by, 'refused', { note: note ?? '' });
    return eventOf(deps, by, 'verified', {
      ...(note === undefined ? {} : { note }),
      ...(commit === undefined ? {} : { commit }),
    });
  });
  return asked.rework && verdict === 'refused' ? submitRework(deps, asked, state) : state;
}

function isSameAgain(state: TaskState, { principal, verdict }: Verification): boolean {
  return state.phase === verdict && state.verdict?.by === principal.id;
}

/** Whoever may see it but is not named by the policy; the producer is told so in particular. */
function refuseOutsiders(state: TaskState, principal: Principal): void {
  const finished = state.phase === 'done' || state.phase === 'approved';
  if (!finished || mayVerify(state, principal)) return;
  const why =
    principal.id === state.producer
      ? 'its producer may not verify its own work; ask its submitter or a person'
      : state.needsHumanVerify
        ? 'it needs the person it was done for'
        : 'its verification policy names somebody else';
  throw new MeshError(
    'NOT_VERIFIER',
    `${principal.id} may not verify task ${state.taskId}: ${why}.`,
    { taskId: state.taskId },
  );
}

async function submitRework(deps: QueueDeps, asked: Verification, state: TaskState) {
  const { task } = state;
  const next = await submitTask(deps, {
    principal: asked.principal,
    target: task.target,
    idempotencyKey: `rework:${state.taskId}`,
    intent: {
      title: `Rework: ${task.intent.title}`.slice(0, 200),
      body: `${task.intent.body}\n\nThe first result was refused: ${asked.note ?? ''}`,
    },
    mode: 'async',
    contextId: state.contextId,
    ...(task.acceptance === undefined ? {} : { acceptance: task.acceptance }),
    contextRefs: task.contextRefs,
    verification: task.verification,
    priority: task.priority,
    score: state.score,
    parent: state.taskId,
    relation: 'rework',
  });
  return linkOnce(deps, state.taskId, 'rework', next.state.taskId);
}
