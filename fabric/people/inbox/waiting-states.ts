import type { TaskState } from '../../domain/state.ts';
import type { TaskBoard, TaskQuery } from '../../ports/task-board.ts';

/** Phases in which something may wait for a person's word. */
const lookups: readonly Pick<TaskQuery, 'phases' | 'openOnly'>[] = [
  { phases: ['input-required', 'needs-review'] },
  // Results that nobody was asked to verify are done for good, and there are thousands of them.
  { phases: ['done', 'approved'], openOnly: true },
];

const pageSize = 500;

/** Every task that may have something waiting for somebody, as this process knows them. */
export async function waitingStates(board: Pick<TaskBoard, 'find'>): Promise<readonly TaskState[]> {
  const states: TaskState[] = [];
  for (const lookup of lookups) {
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await board.find({ ...lookup, ...from, limit: pageSize });
      states.push(...page.states);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return states;
}
