import { join } from 'node:path';
import type { BoardWebhook } from '../agents/board-webhook.ts';
import { reasonOf } from '../fabric/domain/errors.ts';
import { BoardUsers } from '../fabric/kanboard/board-users.ts';
import { openKanboardBoard, type KanboardBoard } from '../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc, type KanboardRpc } from '../fabric/kanboard/kanboard-rpc.ts';
import { NoAnswerError } from '../fabric/kanboard/no-answer.ts';
import { RestoreGuard, type StampMemory } from '../fabric/kanboard/restore-guard.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Directory } from '../fabric/ports/directory.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import { guardedBoard, loadStamp, saveStamp, stampFile } from './board/guarded-board.ts';
import { isShared } from './board/queues-of.ts';
import type { HomePaths } from './home.ts';
import type { KanboardAccess } from './kanboard-access.ts';

/** The database that mirrors a Kanboard: never the home's own, whose tasks are not on that board. */
export const mirrorPath = (
  { boards }: HomePaths,
  { folder }: Pick<KanboardAccess, 'folder'>,
): string => join(boards, folder, 'mirror.db');

export interface HomeKanboardDeps {
  readonly directory: Directory;
  readonly mirror: TaskBoard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly paths: HomePaths;
  /** Another process of the home has its databases open. */
  readonly isBeside?: boolean;
}

/** As `openUnguarded`; held while it turns out to be restored from a backup (`RestoreGuard`). */
export function openHomeKanboard(access: KanboardAccess, deps: HomeKanboardDeps): KanboardBoard {
  const { clock, log, random, paths, isBeside: isReader = false } = deps;
  const board = openUnguarded(access, deps);
  const { rpc, projects } = board.parts;
  const file = stampFile(paths, access);
  const load = () => loadStamp(file, random);
  const save = (memory: StampMemory) => saveStamp(file, memory);
  const guard = new RestoreGuard({ rpc, projects, clock, log, load, save, isReader });
  return guardedBoard(board, guard);
}

/** The Kanboard of a home, laid out as its Cards say. Nothing is asked of it yet. */
export function openUnguarded(
  access: KanboardAccess,
  { directory, mirror, clock, random, log }: Omit<HomeKanboardDeps, 'paths'>,
): KanboardBoard {
  const { webUrl, boardId, pollMs } = access;
  const rpc = rpcOf(access, clock);
  const users = new BoardUsers({ rpc, clock, log });
  return openKanboardBoard({
    ...{ rpc, webUrl, boardId, pollMs, mirror, clock, random, log },
    layoutOf: (queue) => (isInbox(directory, queue) ? 'inbox' : 'queue'),
    showsWords: (queue) => !isShared(queue, directory.agents()),
    userOf: (projectId, principal) => users.of(projectId, principal),
  });
}

/** The API as `access` opens it; the mesh's own Kanboard is started again where it is found dead. */
export function rpcOf({ endpoint, token, own }: KanboardAccess, clock: Clock): KanboardRpc {
  const rpc = kanboardRpc({ endpoint, token: () => token, fetch: globalThis.fetch, clock });
  if (own === undefined) return rpc;
  let lastMs = -Infinity;
  const revive = () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs < reviveEveryMs) return;
    lastMs = nowMs;
    // It says why in its own log; the next call finds out anyway.
    void own.revive().catch(() => undefined);
  };
  return {
    ...rpc,
    async batch(calls) {
      try {
        return await rpc.batch(calls);
      } catch (error) {
        if (error instanceof NoAnswerError && !error.mayBeDone && !error.isRefused) revive();
        throw error;
      }
    },
    close: () => {
      lastMs = Infinity;
      rpc.close();
    },
  };
}

const reviveEveryMs = 10_000;

/** What waits on one person, where agents drain the others. */
export const isInbox = (directory: Directory, queue: string): boolean =>
  directory.agents().some((agent) => agent.queue === queue && agent.runtime === 'human');

export const webhookOf = (
  { parts }: KanboardBoard,
  { webhookToken: token }: KanboardAccess,
): BoardWebhook => ({
  token,
  onHint: () => {
    parts.poll.wake();
  },
});

/** Where a Kanboard says that something changed, for a front that listens at `url`. */
export const webhookUrl = ({ frontUrl }: Pick<KanboardAccess, 'frontUrl'>, url: string): string =>
  `${frontUrl ?? url}/board/webhook`;

/** Has the mesh's own Kanboard tell this front of changes; a foreign one's administrator does it (`mesh board setup`). */
export async function tellOwn(access: KanboardAccess, url: string, log: Log): Promise<void> {
  const hook = { url: webhookUrl(access, url), token: access.webhookToken };
  await access.own?.setWebhook(hook).catch((error: unknown) => {
    log.warn('kanboard.no-webhook', { reason: reasonOf(error) });
  });
}

const firstLookMs = 5_000;

/**
 * Reads what lies on the board before work begins. A board that is away stops nobody: what is awaited on a line is
 * served, and the rest follows when it is back.
 * @throws BoardUnavailableError where it refuses the token: nothing but another one mends that
 */
export async function firstLook(
  { parts }: KanboardBoard,
  clock: Clock,
  say: (text: string) => void,
): Promise<void> {
  const enough = new AbortController();
  const looked = parts.poll.ready().then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof NoAnswerError && error.isRefused) throw error;
      return reasonOf(error);
    },
  );
  const late = clock.sleep(firstLookMs, enough.signal).then(() => 'It takes its time.');
  const why = await Promise.race([looked, late]).finally(() => {
    enough.abort();
  });
  looked.catch(() => undefined);
  if (why === undefined) return;
  say(`${why} Going on without the board: what waits there is taken up when it answers.`);
}
