import { z } from 'zod';
import type { MeshConnection } from './mesh-connection.ts';
import { getJson } from './rpc.ts';

/** One agent as the front lists it. */
export const ListedAgent = z.looseObject({
  agentId: z.string(),
  name: z.string(),
  url: z.string(),
  runtime: z.string(),
  trust: z.string(),
  tier: z.string().optional(),
  cost: z.string(),
  availability: z.looseObject({
    a: z.union([z.literal(0), z.literal(1)]),
    reasons: z.array(z.string()),
    untilMs: z.number().optional(),
    outside: z.literal(true).optional(),
  }),
  queue: z.string(),
  commit: z.string(),
});
export type ListedAgent = z.infer<typeof ListedAgent>;

export const listAgents = (mesh: MeshConnection, signal: AbortSignal): Promise<ListedAgent[]> =>
  getJson(mesh, '/agents', z.array(ListedAgent), signal);

/** Ids of those that can't work now, and that no loop outside works for. */
export const unavailableOf = (agents: readonly ListedAgent[]): ReadonlySet<string> =>
  new Set(
    agents.flatMap(({ agentId, availability: { a, outside } }) => (a || outside ? [] : agentId)),
  );

/** As `unavailableOf`; none where the front can't say. */
export async function unavailableAgents(
  mesh: MeshConnection,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return unavailableOf(await listAgents(mesh, signal).catch(() => []));
}
