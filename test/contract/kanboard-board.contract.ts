import { afterAll, vi } from 'vitest';
import { newBoardId, openTestBoard } from '../support/kanboard-board.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';
import { describeTaskBoard } from './task-board.contract.ts';

/** The contract of `TaskBoard`, unchanged, against a real Kanboard on `database`. */
export function describeKanboardBoard(database: 'sqlite' | 'postgres'): void {
  // Hundreds of events one by one, each a request or two.
  vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

  describeWith('kanboard', `Kanboard on ${database}`, () => {
    let running: Promise<RunningKanboard> | undefined;
    const kanboard = () => (running ??= startKanboard({ database }));
    afterAll(async () => {
      await (await running)?.stop();
    });

    describeTaskBoard(`Kanboard on ${database}`, async () => {
      const boardId = newBoardId();
      const opened = [await openTestBoard(await kanboard(), { boardId })];
      return {
        board: opened[0]!.board,
        async reopen() {
          await opened.at(-1)!.close();
          const again = await openTestBoard(await kanboard(), { boardId });
          opened.push(again);
          return again.board;
        },
        async dispose() {
          for (const one of opened) await one.close();
        },
      };
    });
  });
}
