import type { AgentId } from '../../fabric/domain/ids.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { Card } from '../schema/card.ts';

/**
 * What a Card tells the fabric. `commit` is the git commit the Card was read from. A Card without
 * `effects`, and one that runs unsandboxed, counts as external (`DESIGN.md` 4, 10).
 */
export function policyOf(card: Card, commit: string, defaultHuman: AgentId): AgentPolicy {
  return {
    agentId: card.id,
    name: card.name,
    runtime: card.runtime,
    queue: card.queue.project,
    concurrency: card.queue.concurrency,
    leaseMs: card.queue.leaseMs,
    runTimeoutMs: card.timeouts.runMs,
    trust: card.trust,
    effects: card.unsandboxed ? 'external' : (card.effects ?? 'external'),
    cost: card.cost,
    ...(card.tier && { tier: card.tier }),
    asyncOnly: card.queue.asyncOnly,
    admit: card.admit.map((name) => name.replace(/^principal:/, '')),
    mayCall: card.mayCall,
    verification: card.verification.policy,
    responsibleHuman: card.responsibleHuman ?? defaultHuman,
    createdPerHour: card.createdPerHour,
    commit,
  };
}
