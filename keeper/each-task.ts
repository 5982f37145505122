import { MeshError, reasonOf } from '../fabric/domain/errors.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { TaskQuery } from '../fabric/ports/task-board.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';

const pageSize = 500;

/**
 * One pass over every task that `query` finds, page by page. What goes wrong with one is logged under the
 * name of the sweep and stops none of the others; only a board that does not answer ends the pass.
 * @param work returns whether it changed the task
 * @returns how many it changed
 * @throws MeshError `FABRIC_DOWN`
 */
export async function eachTask(
  deps: Pick<QueueDeps, 'board' | 'log'>,
  sweep: string,
  query: Omit<TaskQuery, 'cursor' | 'limit'>,
  work: (state: TaskState) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  let cursor: string | undefined;
  do {
    const page = await deps.board.find({
      ...query,
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const state of page.states) {
      try {
        if (await work(state)) changed += 1;
      } catch (error) {
        if (error instanceof MeshError && error.code === 'FABRIC_DOWN') throw error;
        const about = { sweep, taskId: state.taskId, reason: reasonOf(error) };
        deps.log.error('keeper.task-skipped', about);
      }
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return changed;
}
