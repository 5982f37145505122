import { AgentId, PrincipalId, QueueId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal } from '../../fabric/domain/principal.ts';
import type { Effects } from '../../fabric/domain/trust.ts';
import type { AgentPolicy, Directory } from '../../fabric/ports/directory.ts';

const person = AgentId.parse('alvis');

function policyOf(agentId: string, effects: Effects, leaseMs: number): AgentPolicy {
  return {
    agentId: AgentId.parse(agentId),
    name: agentId,
    runtime: 'executor',
    queue: QueueId.parse(agentId),
    concurrency: 2,
    leaseMs,
    runTimeoutMs: 4 * 60_000,
    trust: 'trusted',
    effects,
    cost: 'free-local',
    asyncOnly: false,
    admit: ['human', 'trusted'],
    mayCall: ['*'],
    verification: 'submitter',
    responsibleHuman: person,
    createdPerHour: 10_000,
    commit: 'c0ffee',
  };
}

/** Cards that can be changed while everything runs. */
export interface SimulatedCards extends Directory {
  reload(agentId: string, change: Partial<AgentPolicy>): void;
}

/** Three agents: one works in its workspace, one acts outside, one only answers. */
export function simulatedCards(): SimulatedCards {
  const policies = new Map(
    [
      policyOf('adolf', 'workspace', 30_000),
      policyOf('olga', 'external', 45_000),
      policyOf('nina', 'none', 60_000),
    ].map((policy) => [policy.agentId as string, policy]),
  );
  return {
    agent: (agentId) => policies.get(agentId),
    agents: () => [...policies.values()],
    defaultHuman: () => person,
    reload(agentId, change) {
      const before = policies.get(agentId);
      if (before) policies.set(agentId, { ...before, ...change });
    },
  };
}

export const agentIds = ['adolf', 'olga', 'nina'] as const;

const principal = (id: string, role: Principal['role']): Principal => ({
  id: PrincipalId.parse(id),
  role,
  trust: role === 'human' ? 'human' : 'trusted',
  scopes: new Set(scopes.filter((scope) => scope !== 'admin')),
});

/** Who calls: the person everything is done for, a stranger, and the agents, who submit too. */
export const callers = {
  alvis: principal('alvis', 'human'),
  mallory: principal('mallory', 'human'),
  adolf: principal('adolf', 'agent'),
  olga: principal('olga', 'agent'),
  nina: principal('nina', 'agent'),
} as const;
