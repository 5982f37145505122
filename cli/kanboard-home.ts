import { join } from 'node:path';
import type { BoardWebhook } from '../agents/board-webhook.ts';
import { reasonOf } from '../fabric/domain/errors.ts';
import { BoardUsers } from '../fabric/kanboard/board-users.ts';
import { openKanboardBoard, type KanboardBoard } from '../fabric/kanboard/kanboard-board.ts';
import { kanboardRpc } from '../fabric/kanboard/kanboard-rpc.ts';
import { NoAnswerError } from '../fabric/kanboard/no-answer.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Directory } from '../fabric/ports/directory.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import type { HomePaths } from './home.ts';
import type { KanboardAccess } from './kanboard-access.ts';

/** The database that mirrors a Kanboard: never the home's own, whose tasks are not on that board. */
export const mirrorPath = ({ boards }: HomePaths, { folder }: KanboardAccess): string =>
  join(boards, folder, 'mirror.db');

export interface HomeKanboardDeps {
  readonly directory: Directory;
  readonly mirror: TaskBoard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The Kanboard of a home, laid out as its Cards say. Nothing is asked of it yet. */
export function openHomeKanboard(
  access: KanboardAccess,
  { directory, mirror, clock, random, log }: HomeKanboardDeps,
): KanboardBoard {
  const { endpoint, token, webUrl, boardId, pollMs } = access;
  const rpc = kanboardRpc({ endpoint, token: () => token, fetch: globalThis.fetch, clock });
  const users = new BoardUsers({ rpc, clock, log });
  return openKanboardBoard({
    ...{ rpc, webUrl, boardId, pollMs, mirror, clock, random, log },
    layoutOf: (queue) => (isInbox(directory, queue) ? 'inbox' : 'queue'),
    userOf: (projectId, principal) => users.of(projectId, principal),
  });
}

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
