import type { ErrorClass } from '../gateway/error-table.ts';
import { clockText } from '../wall-time.ts';
import { holds } from './term.ts';
import type { Term } from './term.ts';

/** What real calls have shown of one model's or the gateway's health. Nothing is asked actively. */
export interface Breaker {
  /** Transient failures since the last success. */
  readonly failures: number;
  /** Openings since the last success: the cool-off grows with them. */
  readonly openings: number;
  readonly restsUntilMs?: number;
  readonly why?: string;
  /** A call that tries whether it works again; others wait for its outcome. */
  readonly probingSinceMs?: number;
}

export const soundBreaker: Breaker = { failures: 0, openings: 0 };

/** Failures in a row that open it: the call and its two retries. */
const tolerated = 3;
const firstCoolOffMs = 30_000;
const longestCoolOffMs = 15 * 60_000;
/** A probe whose process died would block its model for ever. */
const probeLimitMs = 10 * 60_000;

/** 30 s, doubled with each opening in a row, at most 15 min. */
export function coolOffMs(openings: number): number {
  return Math.min(firstCoolOffMs * 2 ** Math.max(0, openings - 1), longestCoolOffMs);
}

/** a(t)'s breaker term. */
export function breakerTerm(breaker: Breaker, nowMs: number): Term {
  const { restsUntilMs, why = 'it failed', probingSinceMs } = breaker;
  if (restsUntilMs !== undefined && nowMs < restsUntilMs) {
    const reason = `${why}; resting until ${clockText(restsUntilMs, nowMs)}`;
    return { a: 0, reason, untilMs: restsUntilMs };
  }
  if (probingSinceMs !== undefined && nowMs < probingSinceMs + probeLimitMs) {
    return { a: 0, reason: `${why}; one call is trying whether it works again` };
  }
  return holds;
}

/** A call starts. After a rest it is the probe. */
export function started(breaker: Breaker, nowMs: number): Breaker {
  return breaker.openings > 0 ? { ...breaker, probingSinceMs: nowMs } : breaker;
}

/** A call was answered. */
export const succeeded = (): Breaker => soundBreaker;

/**
 * A call failed. `resetAtMs`, where the other side named one, is the end of the rest; classes that say nothing
 * about health leave the breaker as it was.
 */
export function failed(
  breaker: Breaker,
  kind: ErrorClass,
  nowMs: number,
  resetAtMs?: number,
): Breaker {
  const { probingSinceMs: _ended, ...rest } = breaker;
  switch (kind) {
    case 'too-long':
    case 'refused':
    case 'bad-request':
    case 'aborted':
    case 'quota-spent':
    case 'budget-spent':
    case 'gateway-down':
      // The ledger, the budget and the gateway's own breaker look after these.
      return rest;
    case 'gateway-limit':
    case 'cooldown':
      return { ...rest, restsUntilMs: resetAtMs ?? nowMs + firstCoolOffMs, why: sentences[kind] };
    case 'config':
    case 'auth':
      return opened(rest, nowMs + longestCoolOffMs, sentences[kind]);
    case 'provider-429':
    case 'transient': {
      const failures = rest.failures + 1;
      const counted = { ...rest, failures };
      if (failures < tolerated && rest.openings === 0) return counted;
      const restMs = coolOffMs(rest.openings + 1);
      return opened(counted, Math.max(nowMs + restMs, resetAtMs ?? 0), sentences[kind]);
    }
  }
}

/** An incident: closed for the longest cool-off at once. */
export const tripped = (breaker: Breaker, nowMs: number, why: string): Breaker =>
  opened(breaker, nowMs + longestCoolOffMs, why);

const opened = (breaker: Breaker, restsUntilMs: number, why: string): Breaker => ({
  ...breaker,
  openings: breaker.openings + 1,
  restsUntilMs,
  why,
});

const sentences = {
  'gateway-limit': 'over the gateway limit of its key',
  cooldown: 'all its deployments rest at the gateway',
  config: 'the gateway serves no such model',
  auth: 'the gateway key may not call it',
  'provider-429': 'the provider limits its rate',
  transient: 'the last calls failed',
} as const;
