import type { Clock } from '../ports/clock.ts';

/** Where another mesh's front is, and how to get in. */
export interface RemoteBoardOptions {
  /** The front's base URL, without `/board`. */
  readonly url: string;
  /** `Authorization` for each call; asked anew each time, since call tokens are short-lived. */
  readonly authorization: () => Promise<string>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}
