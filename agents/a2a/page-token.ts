import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { invalidField } from './invalid-params.ts';

/**
 * Page tokens name where a list goes on, signed together with the caller and the filters they were
 * made for: another caller's, or one under other filters, is refused (`reference/a2a.md` 1.4).
 */
export interface PageTokens {
  seal(cursor: string, boundTo: readonly unknown[]): string;
  /** @throws InvalidParamsError for a token that was not made for exactly this */
  open(token: string, boundTo: readonly unknown[]): string;
}

export function pageTokens(meshSecret: string): PageTokens {
  const key = Buffer.from(hkdfSync('sha256', meshSecret, '', 'cardmesh page token v1', 32));
  const mark = (cursor: string, boundTo: readonly unknown[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([cursor, boundTo]))
      .digest()
      .subarray(0, 16);
  return {
    seal: (cursor, boundTo) =>
      `${Buffer.from(cursor).toString('base64url')}.${mark(cursor, boundTo).toString('base64url')}`,
    open(token, boundTo) {
      const [body = '', seal = ''] = token.split('.');
      const cursor = Buffer.from(body, 'base64url').toString('utf8');
      const given = Buffer.from(seal, 'base64url');
      const right = mark(cursor, boundTo);
      if (given.length === right.length && timingSafeEqual(given, right)) return cursor;
      throw invalidField(
        'params.pageToken',
        'was not given out for this list; start again without it',
      );
    },
  };
}
