import { z } from 'zod';
import { columns } from './columns.ts';
import { oneLine } from './printable.ts';
import { instant } from './relative-time.ts';

/** One agent or model that the router weighed, as the mesh answers it. */
export const RouteCandidate = z.looseObject({
  agentId: z.string(),
  gatewayModel: z.string().optional(),
  tier: z.string().optional(),
  cost: z.string().optional(),
  verdict: z.string(),
  reasons: z.array(z.string()).default([]),
  untilMs: z.number().optional(),
});
export type RouteCandidate = z.infer<typeof RouteCandidate>;

const fates: Readonly<Record<string, string>> = {
  chosen: 'chosen',
  passedOver: 'free, another came first',
  unavailable: 'not now',
  filtered: 'can’t',
};

/** Who was weighed and what came of it, with an empty line before; nothing where nobody was. */
export function routeTable(candidates: readonly RouteCandidate[], nowMs: number): string {
  if (candidates.length === 0) return '';
  const rows = candidates.map((one) => [
    one.agentId,
    one.gatewayModel ?? '',
    one.tier ?? '',
    one.cost ?? '',
    fates[one.verdict] ?? one.verdict,
    oneLine(one.reasons.join('; ')) +
      (one.untilMs === undefined ? '' : ` until ${instant(one.untilMs, nowMs)}`),
  ]);
  const heading = ['agent', 'model', 'tier', 'cost', 'verdict', 'why'];
  return `\n\n${columns([heading, ...rows])}`;
}
