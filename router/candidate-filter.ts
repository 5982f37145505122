import type { TrustClass } from '../fabric/domain/trust.ts';
import type { Candidate, ModelCandidate } from './model-candidate.ts';
import type { Need } from './target.ts';

const trustRank: Readonly<Record<TrustClass, number>> = {
  human: 3,
  trusted: 2,
  sandboxed: 1,
  untrusted: 0,
};

/** What keeps an agent of any kind from satisfying `needs`, one sentence each; empty: nothing. */
export function agentMisfits(candidate: Candidate, needs: readonly Need[]): readonly string[] {
  return needs.flatMap(({ trust, caps }) => {
    const misfits: string[] = [];
    if (trust !== undefined && trustRank[candidate.trust] < trustRank[trust]) {
      misfits.push(`trust is ${candidate.trust}, at least ${trust} is needed`);
    }
    const missing = caps?.filter((cap) => !candidate.caps.includes(cap)) ?? [];
    if (missing.length > 0) misfits.push(`has no ${missing.join(', no ')}`);
    return misfits;
  });
}

/** What keeps a model from being the backbone for `needs`, its tier and its price in money aside. */
export function modelMisfits(model: ModelCandidate, needs: readonly Need[]): readonly string[] {
  return needs.flatMap(({ tools, minContext, modality, cost }) => {
    const misfits: string[] = [];
    if (tools === true && !model.tools) misfits.push('calls no tools');
    if (minContext !== undefined && model.contextTokens < minContext) {
      misfits.push(`holds ${model.contextTokens} tokens, ${minContext} are needed`);
    }
    const unread = modality?.filter((one) => !model.modality.includes(one)) ?? [];
    if (unread.length > 0) misfits.push(`can't read ${unread.join(' or ')}`);
    if (cost !== undefined && !cost.includes(model.cost)) {
      misfits.push(`cost class is ${model.cost}, ${cost.join(' or ')} is wanted`);
    }
    return misfits;
  });
}
