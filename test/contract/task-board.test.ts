import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { recordingLog } from '../support/recording-log.ts';
import { manualClock } from '../support/manual-clock.ts';
import { describeTaskBoard } from './task-board.contract.ts';

describeTaskBoard('embedded', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-board-'));
  const path = join(folder, 'mesh.db');
  const open = () => openEmbeddedBoard({ path, clock: manualClock(), log: recordingLog() });
  let board = await open();
  return {
    board,
    async reopen() {
      await board.close();
      board = await open();
      return board;
    },
    async dispose() {
      await board.close();
      await rm(folder, { recursive: true });
    },
  };
});
