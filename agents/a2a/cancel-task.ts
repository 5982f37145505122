import { MeshError } from '../../fabric/domain/errors.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import type { Call } from './call.ts';
import type { Edge } from './edge.ts';
import { ProtocolError } from './protocol-error.ts';

/**
 * Cancels and, where a run has to stop first, waits a bounded time for it.
 * @throws ProtocolError `TASK_NOT_CANCELABLE` when the outcome came first
 */
export async function cancelAndWait(edge: Edge, call: Call, task: TaskState): Promise<TaskState> {
  const { principal, gone } = call;
  const state = await cancelTask(edge.queue, { principal, uid: task.taskId }).catch(
    (error: unknown) => {
      const isTooLate = error instanceof MeshError && error.code === 'BAD_TRANSITION';
      throw isTooLate ? notCancelable(task, error) : error;
    },
  );
  const isStopped = ({ phase }: TaskState) => phase !== 'working' && phase !== 'claimed';
  return edge.actors.waitFor(state, isStopped, { waitMs: limits.cancelWaitMs, gone });
}

function notCancelable({ taskId, phase }: TaskState, { message }: MeshError): ProtocolError {
  return new ProtocolError('TASK_NOT_CANCELABLE', message, { taskId, phase });
}
