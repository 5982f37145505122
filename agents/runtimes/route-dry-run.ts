import type { PrincipalId } from '../../fabric/domain/ids.ts';
import type { Provenance, Score, Target } from '../../fabric/domain/task.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import type { CandidateVerdict } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { TargetResolver } from '../../router/resolve-target.ts';
import { barredFor } from './route-bars.ts';
import { toRouterTarget } from './router.ts';

/** Somebody wants to know who would get a task, without submitting it. */
export interface RouteWish {
  readonly submitterId: PrincipalId;
  readonly submitterRole: Provenance['submitterRole'];
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
export function routeDryRun(
  resolver: TargetResolver,
  directory: Directory,
): (wish: RouteWish) => Promise<RouteForecast> {
  return async ({ submitterId, submitterRole, target, text, score }) => {
    const from = { submitter: submitterId, submitterRole, ancestors: [] };
    const { decision } = await resolver.resolve({
      target: toRouterTarget(target),
      task: {
        taskId: 'dry-run',
        submitterId,
        caller: 'interactive',
        barred: barredFor(directory, from),
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
