import { createHash, timingSafeEqual } from 'node:crypto';
import type { PrincipalId } from '../../fabric/domain/ids.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Random } from '../../fabric/ports/random.ts';

/** Whose page a link opens, and by which API token: the page can do no more than that one. */
export interface InboxGrant {
  readonly person: PrincipalId;
  readonly tokenId: string;
}

/** A person's browser session; it ends with the process, with its token, after 12 hours, or at logout. */
export interface InboxSession extends InboxGrant {
  /** Goes with every form; a page of another origin can't know it. */
  readonly csrf: string;
  readonly expiresAtMs: number;
}

export interface InboxSessions {
  /** A key that opens one session, once, within 10 minutes. */
  createLink(grant: InboxGrant): { readonly key: string; readonly expiresAtMs: number };
  /** What the link opens, without using it up: link previews must not. */
  peek(key: string): InboxGrant | undefined;
  /** Uses a link up and opens a session; undefined for one that is used, old or unknown. */
  open(key: string): { readonly cookie: string; readonly session: InboxSession } | undefined;
  get(cookie: string | undefined): InboxSession | undefined;
  close(cookie: string): void;
}

export const sessionMs = 12 * 3_600_000;
const linkMs = 10 * 60_000;

/** Keeps only digests of keys and cookies: a dump of memory or a log opens nothing. */
export function inboxSessions({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: Random;
}): InboxSessions {
  const links = new Map<string, InboxGrant & { expiresAtMs: number }>();
  const sessions = new Map<string, InboxSession>();
  const live = <T extends { expiresAtMs: number }>(map: Map<string, T>, key: string) => {
    for (const [digest, entry] of map) if (entry.expiresAtMs <= clock.nowMs()) map.delete(digest);
    return map.get(digestOf(key));
  };
  return {
    createLink({ person, tokenId }) {
      const key = random.hex(32);
      const expiresAtMs = clock.nowMs() + linkMs;
      links.set(digestOf(key), { person, tokenId, expiresAtMs });
      return { key, expiresAtMs };
    },
    peek: (key) => live(links, key),
    open(key) {
      const link = live(links, key);
      if (link === undefined) return undefined;
      links.delete(digestOf(key));
      const cookie = random.hex(32);
      const expiresAtMs = clock.nowMs() + sessionMs;
      const { person, tokenId } = link;
      const session = { person, tokenId, csrf: random.hex(32), expiresAtMs };
      sessions.set(digestOf(cookie), session);
      return { cookie, session };
    },
    get: (cookie) => (cookie === undefined ? undefined : live(sessions, cookie)),
    close(cookie) {
      sessions.delete(digestOf(cookie));
    },
  };
}

const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Compares a form's token in constant time. */
export function isSameToken(expected: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [a, b] = [Buffer.from(digestOf(expected)), Buffer.from(digestOf(given))];
  return timingSafeEqual(a, b);
}
