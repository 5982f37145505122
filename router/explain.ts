import type { Explanation, RouteDecision } from './decision.ts';
import type { Target } from './target.ts';

/** The decision in one sentence, for `mesh why` and for a parked task's line. */
export function sentence(decision: RouteDecision): string {
  const { explain } = decision;
  const asked = `${targetText(explain.target)}${tierText(explain)}`;
  switch (decision.do) {
    case 'route': {
      const { agentId, backbone } = decision;
      const on =
        backbone === undefined || backbone.modelAgentId === agentId
          ? ''
          : ` on ${backbone.modelAgentId}`;
      return `${asked}: goes to ${agentId}${on}.`;
    }
    case 'park': {
      const until =
        decision.untilMs === undefined
          ? 'until a probe or a person says otherwise'
          : `until ${instant(decision.untilMs)}`;
      return `${asked}: waits ${until}, because ${decision.reasons.join('; ')}.`;
    }
    case 'reject':
      return `${asked}: refused (${decision.why}), because ${decision.reasons.join('; ')}.`;
  }
}

function targetText(target: Target): string {
  switch (target.kind) {
    case 'agent':
      return `Agent ${target.agentId}`;
    case 'constraints':
      return `Whoever satisfies ${JSON.stringify(target.need)}`;
    case 'auto':
      return 'Automatic choice';
  }
}

function tierText({ tier, tierSource }: Explanation): string {
  if (tier === undefined) return '';
  const from = tierSource.startsWith('classifier:')
    ? `by the ${tierSource.slice('classifier:'.length)} classifier`
    : `by its ${tierSource}`;
  return ` (tier ${tier} ${from})`;
}

const instant = (atMs: number): string => new Date(atMs).toISOString().replace('.000Z', 'Z');
