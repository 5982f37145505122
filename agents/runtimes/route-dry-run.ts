import type { Score, Target } from '../../fabric/domain/task.ts';
import type { CandidateVerdict } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { TargetResolver } from '../../router/resolve-target.ts';
import { toRouterTarget } from './router.ts';

/** Somebody wants to know who would get a task, without submitting it. */
export interface RouteWish {
  readonly submitterId: string;
  readonly target: Target;
  readonly text: string;
  readonly score?: Score;
}

export interface RouteForecast {
  readonly do: 'route' | 'park' | 'reject';
  readonly sentence: string;
  readonly candidates: readonly CandidateVerdict[];
}

/** The router's own decision on the snapshot of now; nothing is written and nothing reserved. */
export function routeDryRun(resolver: TargetResolver): (wish: RouteWish) => Promise<RouteForecast> {
  return async ({ submitterId, target, text, score }) => {
    const { decision } = await resolver.resolve({
      target: toRouterTarget(target),
      task: {
        taskId: 'dry-run',
        submitterId,
        caller: 'interactive',
        ...(score !== undefined && score > 0 ? { score } : {}),
      },
      text,
    });
    return {
      do: decision.do,
      sentence: sentence(decision),
      candidates: decision.explain.candidates,
    };
  };
}
