import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { MeshError } from '../fabric/domain/errors.ts';

export interface BoardWebhook {
  /** What the board presents, as Kanboard does: `?token=`. */
  readonly token: string;
  readonly onHint: () => void;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/**
 * A board says that something changed. Its body is not even read: it is a hint, and what is looked at
 * then is the truth. Answers before anything else, for the board waits for it inside its own request.
 */
export function boardWebhook(webhook: BoardWebhook | undefined): (c: Context) => Response {
  const expected = digest(webhook?.token ?? '');
  return (c) => {
    const isRight = timingSafeEqual(digest(c.req.query('token') ?? ''), expected);
    if (webhook === undefined || webhook.token === '') {
      throw new MeshError('NOT_FOUND', 'The board of this mesh has no webhook.');
    }
    if (!isRight) {
      throw new MeshError(
        'UNAUTHENTICATED',
        'This is not the token of the board’s webhook. See: mesh board setup',
      );
    }
    setImmediate(webhook.onHint);
    return c.body(null, 204);
  };
}
