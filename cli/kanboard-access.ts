import { hash } from 'node:crypto';
import { MeshError } from '../fabric/domain/errors.ts';
import type { Random } from '../fabric/ports/random.ts';
import { addressOf } from './board-choice.ts';
import type { KanboardSettings } from './board-settings.ts';
import type { Environment } from './config.ts';
import type { HomePaths } from './home.ts';
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
  readonly boardId: string;
  readonly pollMs: number;
  /** A folder's name for what this home knows of it. */
  readonly folder: string;
}

export interface KanboardAccessDeps {
  readonly paths: HomePaths;
  readonly environment: Environment;
  readonly random: Random;
}

/** @throws MeshError where a token is missing */
export async function kanboardAccess(
  settings: KanboardSettings,
  { paths, environment, random }: KanboardAccessDeps,
): Promise<KanboardAccess> {
  const { url: named, webUrl, boardId, poll: pollMs, webhook } = settings;
  if (named === undefined) throw noOwnYet();
  const url = addressOf(named);
  return {
    ...{ url, boardId, pollMs, endpoint: `${url}/jsonrpc.php` },
    webUrl: addressOf(webUrl ?? url),
    folder: folderOf(url, boardId),
    token: await kanboardToken(paths, environment, settings.tokenFile),
    webhookToken: await kanboardWebhookToken(paths, environment, webhook.tokenFile, random),
  };
}

const noOwnYet = () =>
  new MeshError('VALIDATION_ERROR', 'Name the Kanboard: --board kanboard:<url>.', {
    path: 'board.kanboard.url',
  });

/** Two boards never share a mirror: one's tasks would be taken for the other's. */
function folderOf(url: string, boardId: string): string {
  const host = new URL(url).hostname.replace(/[^a-z0-9.-]/giu, '');
  return `${host}-${boardId}-${hash('sha256', `${url}|${boardId}`, 'hex').slice(0, 8)}`;
}
