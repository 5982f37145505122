import type { Tier } from '../fabric/domain/trust.ts';
import type { RoutedTask, TierSource } from './decision.ts';
import type { Need, Target } from './target.ts';
import { tierForScore, tierRank, tierWithin } from './tier.ts';

/** Tier demanded of a backbone: a pool, or everything from a tier up. */
export interface TierDemand {
  readonly tier?: Tier;
  readonly exact: boolean;
  readonly source: TierSource;
}

/**
 * Where the tier comes from, first that speaks: the target or constraints themselves, a persona's Card, the
 * score, and for `auto` the classifier's verdict within its band. A score beats the classifier: a person's
 * estimate is better evidence than words (`reference/litellm.md` 3.4).
 */
export function tierDemand(task: RoutedTask, target: Target, cardNeed?: Need): TierDemand {
  const asked = target.kind === 'constraints' ? target.need : task.need;
  const explicit = demandOf(asked, 'target') ?? demandOf(task.need, 'target');
  const ofCard = demandOf(cardNeed, 'card');
  if (explicit !== undefined) return ofCard === undefined ? explicit : higher(explicit, ofCard);
  if (ofCard !== undefined) return ofCard;
  // A pinned persona whose Card names no tier takes any backbone: that is its operator's word.
  if (target.kind === 'agent') return { exact: false, source: 'none' };
  const scored = tierForScore(task.score);
  if (target.kind === 'auto') {
    const { floor, ceiling } = target;
    if (scored !== undefined) return exactly(tierWithin(scored, floor, ceiling), 'score');
    if (task.verdict === undefined) return { exact: true, source: 'none' };
    const { tier, source } = task.verdict;
    return exactly(tierWithin(tier, floor, ceiling), `classifier:${source}`);
  }
  return scored === undefined ? { exact: true, source: 'none' } : exactly(scored, 'score');
}

const exactly = (tier: Tier, source: TierSource): TierDemand => ({ tier, exact: true, source });

function demandOf(need: Need | undefined, source: TierSource): TierDemand | undefined {
  if (need?.tier !== undefined) {
    const tier =
      need.tierAtLeast !== undefined && tierRank(need.tierAtLeast) > tierRank(need.tier)
        ? need.tierAtLeast
        : need.tier;
    return exactly(tier, source);
  }
  if (need?.tierAtLeast !== undefined) return { tier: need.tierAtLeast, exact: false, source };
  return undefined;
}

/** A Card's own tier is a floor: constraints may widen it upwards, never below what the persona needs. */
function higher(one: TierDemand, other: TierDemand): TierDemand {
  if (one.tier === undefined || other.tier === undefined) return one;
  return tierRank(one.tier) >= tierRank(other.tier) ? one : other;
}
