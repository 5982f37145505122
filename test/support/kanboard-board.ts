import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import {
  openKanboardBoard,
  type KanboardBoard,
  type KanboardBoardOptions,
} from '../../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc } from '../../fabric/kanboard/kanboard-rpc.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import type { RunningKanboard } from './services/kanboard.ts';
import { recordingLog } from './recording-log.ts';

let opened = 0;

/** A name that no other test's mesh has: several may share one Kanboard. */
export const newBoardId = (): string => `test-${process.pid}-${++opened}`;

export interface TestBoard {
  readonly board: KanboardBoard;
  /** Ends it as a process does; what it knew is gone with it. */
  close(): Promise<void>;
}

export interface TestBoardOptions {
  readonly boardId: string;
  /** Of one request. */
  readonly timeoutMs?: number;
}

/** A board on a running Kanboard, with a mirror that knows nothing yet. */
export async function openTestBoard(
  { url, baseUrl, token }: Pick<RunningKanboard, 'url' | 'baseUrl' | 'token'>,
  { timeoutMs, ...options }: Partial<KanboardBoardOptions> & TestBoardOptions,
): Promise<TestBoard> {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-mirror-'));
  const log = options.log ?? recordingLog();
  const clock = options.clock ?? systemClock;
  const mirror = await openEmbeddedBoard({ path: join(folder, 'mirror.db'), clock, log });
  const board = openKanboardBoard({
    rpc: kanboardRpc({
      endpoint: url,
      token: () => token,
      fetch: globalThis.fetch,
      clock: systemClock,
      ...(timeoutMs && { timeoutMs }),
    }),
    webUrl: baseUrl,
    mirror,
    clock,
    random: systemRandom,
    log,
    layoutOf: () => 'queue',
    userOf: () => Promise.resolve(undefined),
    ...options,
  });
  return {
    board,
    async close() {
      await board.close();
      await mirror.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
