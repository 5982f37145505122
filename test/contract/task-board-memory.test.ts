import { manualClock } from '../support/manual-clock.ts';
import { memoryBoard } from '../support/memory-board.ts';
import { memoryStore } from '../support/memory-store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { describeTaskBoard } from './task-board.contract.ts';

describeTaskBoard('memory', async () => {
  const store = memoryStore();
  const open = () => memoryBoard({ clock: manualClock(), random: seededRandom(1), store });
  let board = open();
  return {
    board,
    async reopen() {
      await board.close();
      board = open();
      return board;
    },
    dispose: () => board.close(),
  };
});
