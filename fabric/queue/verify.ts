import { maySee, mayVerify } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { linkOnce, requireScope } from './answer.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';
import { reworkRequest } from './rework.ts';
import type { SubmitRequest } from './submit-request.ts';
import { checkedSubmit, submitTask, taskIdOf } from './submit.ts';

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
  requireWhole(asked);
  const rework = await reworkOf(deps, asked);
  const state = await change(deps, uid, (log) => {
    if (!maySee(log.state, principal)) throw unknownTask(uid);
    if (isSameAgain(log.state, asked)) return undefined;
    refuseOutsiders(log.state, principal);
    const by = authorOf(principal);
    if (verdict === 'refused') {
      const named = rework && { rework: taskIdOf(deps, rework) };
      return eventOf(deps, by, 'refused', { note: note ?? '', ...named });
    }
    return eventOf(deps, by, 'verified', {
      ...(note === undefined ? {} : { note }),
      ...(commit === undefined ? {} : { commit }),
    });
  });
  if (rework === undefined) return state;
  const next = await submitTask(deps, rework);
  return linkOnce(deps, uid, 'rework', next.state.taskId);
}

/** A verdict that contradicts itself is none: a verified result can't be refused any more. */
function requireWhole({ verdict, note, rework }: Verification): void {
  if (verdict === 'refused' && !note) {
    throw new MeshError('VALIDATION_ERROR', 'A refusal needs a note that says what is missing.', {
      path: 'note',
    });
  }
  if (verdict === 'verified' && rework) {
    throw new MeshError(
      'VALIDATION_ERROR',
      'A rework goes with a refusal, and the verdict is "verified". Say "refused", or leave rework out.',
      { path: 'rework' },
    );
  }
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

/**
 * The rework that a refusal orders; undefined where it orders none. Whether it can be submitted is settled
 * before the refusal, which can't be taken back.
 */
async function reworkOf(deps: QueueDeps, asked: Verification): Promise<SubmitRequest | undefined> {
  const { principal, uid, verdict, rework, note } = asked;
  if (!rework || verdict !== 'refused') return undefined;
  const state = (await deps.board.read(uid))?.state;
  if (state === undefined || !maySee(state, principal)) throw unknownTask(uid);
  if (state.phase !== 'refused') refuseOutsiders(state, principal);
  // Said twice, the first words count: the rework was submitted with them.
  const correction = state.phase === 'refused' ? state.verdict?.note : note;
  const request = reworkRequest(state, principal, correction);
  if (state.phase !== 'refused') await checkedSubmit(deps, request);
  return request;
}
