import type { TaskId } from '../../fabric/domain/ids.ts';
import { QueueId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';

/** A board to test, over a store that no other test uses. */
export interface BoardUnderTest {
  readonly board: TaskBoard;
  /** Ends this process's part and opens the same store anew, without any memory of it. */
  readonly reopen: () => Promise<TaskBoard>;
  /** Ends what `open` and `reopen` started. */
  readonly dispose: () => Promise<void>;
}

/** Opens a board to test; the contract disposes of it after each test. */
export type Fresh = () => Promise<BoardUnderTest>;

export const queueOf = (name: string) => QueueId.parse(name);
export const ids = (states: readonly TaskState[]): TaskId[] => states.map(({ taskId }) => taskId);
export const sorted = (uids: readonly string[]): string[] => [...uids].sort();

export function sortedBy<T>(all: readonly T[], key: (one: T) => string): T[] {
  return [...all].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
