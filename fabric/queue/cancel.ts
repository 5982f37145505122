import { mayCancel, maySee } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { requireScope } from './answer.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';

export interface Cancellation {
  readonly principal: Principal;
  readonly uid: TaskId;
  readonly reason?: string;
}

/**
 * Cancels a task: at once when nobody runs it; else it asks the holder to stop, and the returned
 * state says `cancelRequested`. A second cancel of a canceled task is a no-op.
 * @throws MeshError `NOT_FOUND`; `BAD_TRANSITION` when it has ended or is done (the outcome came first)
 */
export async function cancelTask(deps: QueueDeps, asked: Cancellation): Promise<TaskState> {
  const { principal, uid, reason } = asked;
  requireScope(principal, 'tasks:cancel');
  const why = reason === undefined ? {} : { reason };
  return change(deps, uid, ({ state }) => {
    if (!maySee(state, principal)) throw unknownTask(uid);
    if (state.phase === 'canceled' || (state.cancelRequested && state.phase === 'working')) {
      return undefined;
    }
    if (!mayCancel(state, principal)) throw notCancelable(state);
    const by = authorOf(principal);
    return state.phase === 'working'
      ? eventOf(deps, by, 'cancelRequested', why)
      : eventOf(deps, by, 'canceled', why);
  });
}

function notCancelable(state: TaskState): MeshError {
  return new MeshError(
    'BAD_TRANSITION',
    `Task ${state.taskId} can't be canceled: it is ${state.phase}, or you are neither its submitter nor its human.`,
    { taskId: state.taskId, phase: state.phase },
  );
}
