import type { CostClass } from '../fabric/domain/trust.ts';
import type { ModelCandidate } from './model-candidate.ts';
import type { RouterSnapshot } from './router-snapshot.ts';
import { tierRank } from './tier.ts';

const costRank: Readonly<Record<CostClass, number>> = {
  'free-local': 0,
  'flat-quota': 1,
  metered: 2,
};

/**
 * The order in which models that fit and are free are taken (`reference/litellm.md` 5.1): the lowest tier that
 * will do, the operator's rank, what is loaded already, the cheapest quota, then a stable hash, so that equal
 * models share the work and one task always gets the same one.
 */
export function choiceOrder(
  models: readonly ModelCandidate[],
  snapshot: Pick<RouterSnapshot, 'warm' | 'pressure'>,
  taskId: string,
): readonly ModelCandidate[] {
  const cold = (model: ModelCandidate) => (snapshot.warm.has(model.agentId) ? 0 : 1);
  const pressure = (model: ModelCandidate) => snapshot.pressure.get(model.agentId) ?? 0;
  return models.toSorted(
    (one, other) =>
      tierRank(one.tier) - tierRank(other.tier) ||
      one.rank - other.rank ||
      cold(one) - cold(other) ||
      costRank[one.cost] - costRank[other.cost] ||
      pressure(one) - pressure(other) ||
      stableHash(taskId + one.agentId) - stableHash(taskId + other.agentId) ||
      (one.agentId < other.agentId ? -1 : 1),
  );
}

/** FNV-1a, 32 bits: even enough to spread ties, and the same on every machine. */
function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
