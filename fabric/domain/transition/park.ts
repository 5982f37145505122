import { limits } from '../limits.ts';

/**
 * When a parked task may be taken again, ms since the epoch: at the end that its wall named, or, where
 * nobody knows one, after a pause. The pause doubles with each park in a row, from one poll to
 * `limits.parkMs`, and binds a wall that keeps naming another end too (from its second park on): each
 * park costs three events, and a log holds 512.
 * @param inARow how many parks this one makes without another end of a run between them, from 1
 */
export function parkedUntilMs(atMs: number, inARow: number, wallEndsAtMs?: number): number {
  if (wallEndsAtMs === undefined) return atMs + pauseMs(inARow);
  return Math.max(wallEndsAtMs, inARow === 1 ? 0 : atMs + pauseMs(inARow - 1));
}

const pauseMs = (inARow: number): number =>
  Math.min(limits.parkMs, limits.pollMs * 2 ** Math.min(inARow - 1, 20));
