import { join } from 'node:path';
import { openEmbeddedBoard } from '../fabric/embedded/embedded-board.ts';
import { openKanboardBoard, type KanboardBoard } from '../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc, type KanboardRpc } from '../fabric/kanboard/kanboard-rpc.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../fabric/telemetry/system-random.ts';
import { crashCards } from '../test/support/crash-cards.ts';
import type { RunningKanboard } from '../test/support/services/kanboard.ts';

/** What Kanboard was asked. */
export interface Spent {
  readonly requests: number;
  readonly calls: number;
}

/** One process of a mesh on Kanboard, as far as a benchmark has it. */
export interface BenchHost {
  readonly board: KanboardBoard;
  readonly deps: QueueDeps;
  readonly rpc: KanboardRpc;
  /** What `work` asked of Kanboard, with what it left to be shown in the background. */
  spentOn(work: () => Promise<unknown>): Promise<Spent>;
  close(): Promise<void>;
}

const quiet = () => undefined;
const log: Log = { debug: quiet, info: quiet, warn: console.error, error: console.error };
/** Long enough that nothing is held too long while everything else is measured. */
const leaseMs = 3_600_000;
/** The agent whose queue is measured: work in its own workspace, 64 at a time. */
export const agentId = 'builder';

/** @param name of its mirror below `folder`; it knows nothing yet */
export async function openBenchHost(
  kanboard: RunningKanboard,
  { folder, name, boardId }: { folder: string; name: string; boardId: string },
): Promise<BenchHost> {
  const mirror = await openEmbeddedBoard({
    ...{ path: join(folder, `${boardId}-${name}.db`), clock: systemClock, log },
  });
  const { rpc, spent } = counted(kanboard);
  const board = openKanboardBoard({
    ...{ rpc, boardId, mirror, log, clock: systemClock, random: systemRandom },
    webUrl: kanboard.baseUrl,
    layoutOf: () => 'queue',
    userOf: () => Promise.resolve(undefined),
  });
  const deps: QueueDeps = {
    ...{ board, log, clock: systemClock, random: systemRandom, meshSecret: boardId },
    directory: crashCards(agentId, leaseMs, 64),
    artifacts: { put: async () => '0'.repeat(64), get: async () => undefined },
  };
  return {
    ...{ board, deps, rpc },
    async spentOn(work) {
      const before = { ...spent };
      await work();
      await board.parts.display.settled();
      return {
        requests: spent.requests - before.requests,
        calls: spent.calls - before.calls,
      };
    },
    async close() {
      await board.close();
      await mirror.close();
    },
  };
}

function counted({ url, token }: RunningKanboard) {
  const spent = { requests: 0, calls: 0 };
  const own = { fetch: globalThis.fetch, clock: systemClock, timeoutMs: 120_000 };
  const direct = kanboardRpc({ endpoint: url, token: () => token, ...own });
  const rpc: KanboardRpc = {
    ...direct,
    batch(calls) {
      spent.requests += 1;
      spent.calls += calls.length;
      return direct.batch(calls);
    },
  };
  return { rpc, spent };
}
