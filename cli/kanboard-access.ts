import { hash } from 'node:crypto';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import { addressOf } from './board-choice.ts';
import type { KanboardSettings } from './board-settings.ts';
import type { Environment } from './config.ts';
import type { HomePaths } from './home.ts';
import type { OwnKanboard } from './own-kanboard.ts';
import { kanboardToken, kanboardWebhookToken } from './secrets.ts';

/** A Kanboard and what opens it. Holds the application token: a superuser's (`DESIGN.md` 5.2). */
export interface KanboardAccess {
  /** Without a slash at its end. */
  readonly url: string;
  readonly endpoint: string;
  /** What people open. */
  readonly webUrl: string;
  readonly token: string;
  readonly webhookToken: string;
  /** The front, as the Kanboard reaches it; absent: as it listens. */
  readonly frontUrl?: string;
  readonly boardId: string;
  readonly pollMs: number;
  /** A folder's name for what this home knows of it. */
  readonly folder: string;
  /** The mesh's own one, which it starts, revives and stops. */
  readonly own?: OwnKanboard;
}

export interface KanboardAccessDeps {
  readonly paths: HomePaths;
  readonly environment: Environment;
  readonly random: Random;
  readonly log: Log;
  /** Words for the person who waits. */
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A Kanboard of the mesh's own runs when this resolves; who asked for it stops it again.
 * @throws MeshError where a token is missing, or `FABRIC_DOWN` where this machine can't run one
 */
export async function kanboardAccess(
  settings: KanboardSettings,
  deps: KanboardAccessDeps,
): Promise<KanboardAccess> {
  const { paths, environment, random } = deps;
  const { webUrl, boardId, poll: pollMs, webhook } = settings;
  const webhookToken = await kanboardWebhookToken(paths, environment, webhook.tokenFile, random);
  const found =
    settings.url === undefined ? await ownOne(deps) : await named(settings, settings.url, deps);
  return {
    ...{ boardId, pollMs, webhookToken, ...found, endpoint: `${found.url}/jsonrpc.php` },
    ...(webhook.url === undefined ? {} : { frontUrl: addressOf(webhook.url) }),
    webUrl: addressOf(webUrl ?? found.url),
    folder: found.own ? `own-${boardId}` : folderOf(found.url, boardId),
  };
}

type Found = Pick<KanboardAccess, 'url' | 'token' | 'own'>;

const named = async (
  { tokenFile }: KanboardSettings,
  url: string,
  { paths, environment }: KanboardAccessDeps,
): Promise<Found> => ({
  url: addressOf(url),
  token: await kanboardToken(paths, environment, tokenFile),
});

async function ownOne({ paths, environment, signal, ...deps }: KanboardAccessDeps): Promise<Found> {
  // Only here: hardly any command needs it.
  const { ownKanboard } = await import('./own-kanboard.ts');
  const own = await ownKanboard({
    ...{ ...deps, folder: paths.ownKanboard, environment: environment.all },
    ...(signal ? { signal } : {}),
  });
  return { url: addressOf(own.url), token: own.token, own };
}

/** Two boards never share a mirror: one's tasks would be taken for the other's. */
function folderOf(url: string, boardId: string): string {
  const host = new URL(url).hostname.replace(/[^a-z0-9.-]/giu, '');
  return `${host}-${boardId}-${hash('sha256', `${url}|${boardId}`, 'hex').slice(0, 8)}`;
}
