import type { Directory } from '../../fabric/ports/directory.ts';
import type { CandidateVerdict, RejectReason } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { TargetResolver } from '../../router/resolve-target.ts';
import { routeQuestion, type RouteWish } from './route-question.ts';

export interface RouteForecast {
  readonly do: 'route' | 'park' | 'reject';
  readonly sentence: string;
  /** Why not now, one clause each; empty where somebody would get it. */
  readonly reasons: readonly string[];
  /** Ms since the epoch when the first of those who could do it is free, as far as anybody knows. */
  readonly untilMs?: number;
  /** Of a refusal only. */
  readonly why?: RejectReason;
  readonly candidates: readonly CandidateVerdict[];
}

/** Who would get it now, without submitting or reserving anything. */
export type Foretell = (wish: RouteWish) => Promise<RouteForecast>;

/** The router's own decision on the snapshot of now; nothing is written and nothing reserved. */
export function routeDryRun(resolver: TargetResolver, directory: Directory): Foretell {
  return async (wish) => {
    const { decision } = await resolver.resolve(routeQuestion(directory, wish));
    return {
      do: decision.do,
      sentence: sentence(decision),
      reasons: decision.do === 'route' ? [] : decision.reasons,
      ...(decision.do === 'park' &&
        decision.untilMs !== undefined && { untilMs: decision.untilMs }),
      ...(decision.do === 'reject' && { why: decision.why }),
      candidates: decision.explain.candidates,
    };
  };
}
