import { maySee, maySteer } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import { closedPhases, type TaskState } from '../domain/state.ts';
import { linkOnce, requireScope } from './answer.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';
import type { SubmitRequest } from './submit-request.ts';
import { submitTask } from './submit.ts';

/** The work of a task once more, as a new task beside it, with what its result lacked. */
export function reworkRequest(
  state: TaskState,
  principal: Principal,
  correction: string | undefined,
): SubmitRequest {
  const { task } = state;
  return {
    principal,
    target: task.target,
    idempotencyKey: `rework:${state.taskId}`,
    intent: { ...task.intent, title: `Rework: ${task.intent.title}`.slice(0, 200) },
    mode: 'async',
    contextId: state.contextId,
    ...(task.parts ? { parts: task.parts } : {}),
    ...(task.acceptance === undefined ? {} : { acceptance: task.acceptance }),
    ...(correction === undefined ? {} : { correction }),
    contextRefs: task.contextRefs,
    ...(task.selection ? { selection: task.selection } : {}),
    verification: task.verification,
    effects: task.effects,
    priority: state.priority,
    score: state.score,
    parent: state.taskId,
    relation: 'rework',
  };
}

/** The task that an ended one was done anew as. */
export const reworkOf = ({ links, reworkedAs }: TaskState): TaskId | undefined =>
  reworkedAs ?? links.find(({ relation }) => relation === 'rework')?.taskId;

/** Ended for good: "try again" is a new task (`DESIGN.md` 4.2). A result that is still to be verified is refused instead. */
export const hasEnded = ({ phase, task }: TaskState): boolean =>
  closedPhases.has(phase) ||
  phase === 'dead-letter' ||
  (phase === 'done' && task.verification === 'none');

/**
 * Has an ended task done anew, once: by one of the people whose task it is. Returns the new task.
 * @throws MeshError `NOT_FOUND`, `TRUST_DENIED`, `BAD_TRANSITION` for what has not ended, and as `submitTask`
 */
export async function reworkTask(
  deps: QueueDeps,
  asked: { readonly principal: Principal; readonly uid: TaskId; readonly correction: string },
): Promise<TaskState> {
  const { principal, uid, correction } = asked;
  requireScope(principal, 'tasks:submit');
  const state = (await deps.board.read(uid))?.state;
  if (state === undefined || !maySee(state, principal)) throw unknownTask(uid);
  if (!maySteer(state, principal)) throw notTheirs(principal, uid);
  if (!hasEnded(state)) {
    throw new MeshError(
      'BAD_TRANSITION',
      `Task ${uid} is ${state.phase}; only an ended one is done anew.`,
      {
        taskId: uid,
        phase: state.phase,
      },
    );
  }
  const known = reworkOf(state);
  const before = known && (await deps.board.read(known))?.state;
  // Asked for twice, the first words count.
  const words = before?.task.correction ?? state.verdict?.note ?? correction;
  const next = before ?? (await submitTask(deps, reworkRequest(state, principal, words))).state;
  await linkOnce(deps, uid, 'rework', next.taskId);
  return next;
}

const notTheirs = (principal: Principal, uid: TaskId): MeshError =>
  new MeshError(
    'TRUST_DENIED',
    `${principal.id} may not have task ${uid} done anew: only its submitter, the person it is done for and ` +
      'administrators may. Ask one of them.',
    { taskId: uid },
  );
