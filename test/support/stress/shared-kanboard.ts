import { afterAll } from 'vitest';
import { newBoardId } from '../kanboard-board.ts';
import { startKanboard, type KanboardOptions, type RunningKanboard } from '../services/kanboard.ts';
import type { BoardPlace } from './board-place.ts';

export interface SharedKanboard {
  running(): Promise<RunningKanboard>;
  /** A mesh of its own on it: none of the tasks of another test. */
  newPlace(): Promise<BoardPlace>;
}

/** One real Kanboard for a test file, started when it is first wanted. Its projects are never told apart by name. */
export function sharedKanboard(database: KanboardOptions['database']): SharedKanboard {
  let kanboard: Promise<RunningKanboard> | undefined;
  const running = () => (kanboard ??= startKanboard({ database }));
  afterAll(async () => {
    await (await kanboard)?.stop();
  });
  return {
    running,
    async newPlace() {
      const { url, token } = await running();
      return { url, token, boardId: newBoardId() };
    },
  };
}
