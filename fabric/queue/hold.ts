import type { TaskLog } from '../ports/task-board.ts';

/**
 * How the holder of a claim stands, for people; it decides nothing, since only who watched a claim for a whole
 * lease may call it expired (`DESIGN.md` 4.1). `dead`: with proof. `lapsed`: no sign of life is known within
 * the last lease.
 */
export interface Hold {
  readonly standing: 'alive' | 'lapsed' | 'dead';
  /** When the lease ends that the last known sign of life began, ms since the epoch. */
  readonly leaseEndsAtMs: number;
}

/** Undefined for a task that nobody holds. `isDead`: what is proved of the holder's process. */
export function holdOf(
  { state: { claim }, beats }: Pick<TaskLog, 'state' | 'beats'>,
  nowMs: number,
  isDead: boolean,
): Hold | undefined {
  if (claim === undefined) return undefined;
  const beatAtMs = beats?.version === claim.fence ? (beats.lastAtMs ?? 0) : 0;
  const leaseEndsAtMs = Math.max(claim.claimedAtMs, beatAtMs) + claim.leaseMs;
  if (isDead) return { standing: 'dead', leaseEndsAtMs };
  return { standing: leaseEndsAtMs <= nowMs ? 'lapsed' : 'alive', leaseEndsAtMs };
}
