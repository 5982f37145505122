import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { MeshError } from '../fabric/domain/errors.ts';

export interface BoardWebhook {
  /** What the board presents, as Kanboard does: `?token=`. */
  readonly token: string;
  readonly onHint: () => void;
}

/** The webhook's end at the front. */
export interface WebhookEnd {
  readonly hear: (c: Context) => Response;
  /** How many hints came since this process began; undefined for a board that gives none. */
  readonly heard: () => number | undefined;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * A board says that something changed. Its body is not even read: it is a hint, and what is looked at
 * then is the truth. Answers before anything else, for the board waits for it inside its own request.
 */
export function boardWebhook(webhook: BoardWebhook | undefined): WebhookEnd {
  const expected = digest(webhook?.token ?? '');
  let count = 0;
  return {
    heard: () => (webhook ? count : undefined),
    hear(c) {
      const isRight = timingSafeEqual(digest(c.req.query('token') ?? ''), expected);
      if (webhook === undefined || webhook.token === '') throw noWebhook();
      if (!isRight) {
        throw new MeshError(
          'UNAUTHENTICATED',
          'This is not the token of the board’s webhook. See: mesh board setup',
        );
      }
      count += 1;
      setImmediate(webhook.onHint);
      return c.body(null, 204);
    },
  };
}

const noWebhook = () => new MeshError('NOT_FOUND', 'The board of this mesh has no webhook.');
