import { maySee } from '../../fabric/domain/access.ts';
import { TaskId } from '../../fabric/domain/ids.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskLog } from '../../fabric/ports/task-board.ts';
import { unknownTask } from '../../fabric/queue/refusals.ts';
import { isRouter, type Edge } from './edge.ts';

/**
 * A task that the caller may see at this persona, by its id, a prefix of it or the board's own ref.
 * @throws MeshError `NOT_FOUND`, the same for one that is there and for one that is not
 */
export async function visibleTask(
  edge: Edge,
  principal: Principal,
  taskRef: string,
): Promise<TaskLog> {
  const { board } = edge.queue;
  const whole = TaskId.safeParse(taskRef);
  const uid = whole.success ? whole.data : await board.resolve(taskRef);
  const log = uid === undefined ? undefined : await board.read(uid);
  if (log === undefined || !isServed(edge, log.state)) throw unknownTask(taskRef);
  if (!(await isVisible(edge, principal, log.state))) throw unknownTask(taskRef);
  // Nobody outside hears of what a crash could still take back.
  await board.flush();
  return log;
}

/** A persona answers for its own tasks; the router for those it sent on, too. */
const isServed = (edge: Edge, state: TaskState): boolean =>
  state.agentId === edge.agentId || isRouter(edge);

/** A run's credential reaches the children of its task; everybody else what `access.ts` says. */
export async function isVisible(
  edge: Edge,
  principal: Principal,
  state: TaskState,
): Promise<boolean> {
  const { parent } = state.task.provenance;
  if (principal.run) return parent === principal.run.taskId;
  if (maySee(state, principal)) return true;
  if (parent === undefined) return false;
  const above = (await edge.queue.board.read(parent))?.state;
  return above !== undefined && maySee(state, principal, above.task.provenance.submitter);
}
