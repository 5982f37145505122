import { join } from 'node:path';
import { z } from 'zod';
import { openEmbeddedBoard } from '../../../fabric/embedded/embedded-board.ts';
import { openKanboardBoard, type KanboardBoard } from '../../../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc } from '../../../fabric/kanboard/kanboard-rpc.ts';
import type { Clock } from '../../../fabric/ports/clock.ts';
import type { Log } from '../../../fabric/ports/log.ts';
import { systemClock } from '../../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../../fabric/telemetry/system-random.ts';

/** Where a process of a test finds its board, as it is told on its command line. */
export const BoardPlace = z.strictObject({
  /** Of the API, or of a proxy before it. */
  url: z.string(),
  token: z.string(),
  boardId: z.string(),
});
export type BoardPlace = z.infer<typeof BoardPlace>;

export interface PlacedOptions {
  /** Where its mirror lies; one that was not there before knows nothing. */
  readonly folder: string;
  readonly name: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly pollMs?: number;
  readonly timeoutMs?: number;
}

/** The board on Kanboard as a process of its own has it: with its own mirror, connection and poll. */
export async function openPlacedBoard(
  { url, token, boardId }: BoardPlace,
  { folder, name, log, timeoutMs = 15_000, clock = systemClock, ...options }: PlacedOptions,
): Promise<KanboardBoard> {
  const mirror = await openEmbeddedBoard({ path: join(folder, `${name}.db`), clock, log });
  const board = openKanboardBoard({
    ...options,
    rpc: kanboardRpc({
      endpoint: url,
      token: () => token,
      fetch: globalThis.fetch,
      clock,
      timeoutMs,
    }),
    webUrl: new URL(url).origin,
    boardId,
    mirror,
    clock,
    random: systemRandom,
    log,
    layoutOf: () => 'queue',
    userOf: () => Promise.resolve(undefined),
  });
  return {
    ...board,
    async close() {
      await board.close();
      await mirror.close();
    },
  };
}
