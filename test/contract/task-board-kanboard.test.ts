import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { openKanboardBoard } from '../../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc } from '../../fabric/kanboard/kanboard-rpc.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { describeTaskBoard } from './task-board.contract.ts';

// Hundreds of events one by one, each a request or two.
vi.setConfig({ testTimeout: 90_000 });

let opened = 0;

describeTaskBoard('Kanboard', async () => {
  opened += 1;
  const boardId = `contract-${process.pid}-${opened}`;
  const folder = await mkdtemp(join(tmpdir(), 'mesh-kanboard-'));
  let nth = 0;
  const closers: (() => Promise<void>)[] = [];
  const open = async () => {
    nth += 1;
    const log = recordingLog();
    const mirror = await openEmbeddedBoard({
      path: join(folder, `mirror-${nth}.db`),
      clock: manualClock(),
      log,
    });
    const board = openKanboardBoard({
      rpc: kanboardRpc({
        endpoint: 'http://127.0.0.1:8085/jsonrpc.php',
        token: () => 'kanboard-dev-token-0123456789abcdef',
        fetch: globalThis.fetch,
      }),
      webUrl: 'http://127.0.0.1:8085',
      boardId,
      mirror,
      clock: systemClock,
      random: systemRandom,
      log,
      layoutOf: () => 'queue',
      userOf: () => Promise.resolve(undefined),
    });
    closers.push(async () => {
      await board.close();
      await mirror.close();
    });
    return board;
  };
  let board = await open();
  return {
    board,
    async reopen() {
      await board.close();
      board = await open();
      return board;
    },
    async dispose() {
      for (const close of closers) await close();
      await rm(folder, { recursive: true });
    },
  };
});
