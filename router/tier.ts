import type { Tier } from '../fabric/domain/trust.ts';

/** The tiers in order; a later one is never cheaper to deserve. */
export const tiers: readonly Tier[] = ['small', 'medium', 'large', 'reasoning'];

const ranks: Readonly<Record<Tier, number>> = { small: 0, medium: 1, large: 2, reasoning: 3 };

/** 0 for small to 3 for reasoning. */
export const tierRank = (tier: Tier): number => ranks[tier];

/**
 * The tier a task's score asks for (`DESIGN.md` 4): ≤ 2 small, ≤ 5 medium, more large.
 * Undefined for a task that nobody rated (score 0 or none): it is asked about, never run cheaply.
 */
export function tierForScore(score: number | undefined): Tier | undefined {
  if (score === undefined || score <= 0) return undefined;
  if (score <= 2) return 'small';
  return score <= 5 ? 'medium' : 'large';
}

/** `tier` moved into the band from `floor` to `ceiling`; the floor wins where they contradict. */
export function tierWithin(tier: Tier, floor: Tier | undefined, ceiling: Tier | undefined): Tier {
  const capped = ceiling !== undefined && ranks[tier] > ranks[ceiling] ? ceiling : tier;
  return floor !== undefined && ranks[capped] < ranks[floor] ? floor : capped;
}
