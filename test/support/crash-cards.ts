import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import type { Effects } from '../../fabric/domain/trust.ts';
import type { Directory } from '../../fabric/ports/directory.ts';

/** What the agents of the crash tests may do, by their name. */
export const crashAgents: Readonly<Record<string, Effects>> = {
  builder: 'workspace',
  sender: 'external',
};

/** The Card of one agent that runs one task at a time. */
export function crashCards(name: string, leaseMs: number): Directory {
  const agentId = AgentId.parse(name);
  const policy = {
    agentId,
    name,
    runtime: 'executor',
    queue: QueueId.parse(name),
    concurrency: 1,
    leaseMs,
    runTimeoutMs: 60_000,
    trust: 'trusted',
    effects: crashAgents[name] ?? 'external',
    cost: 'free-local',
    asyncOnly: false,
    admit: ['human'],
    mayCall: [],
    verification: 'submitter',
    responsibleHuman: AgentId.parse('alvis'),
    createdPerHour: 30,
    commit: 'c0ffee',
  } as const;
  return {
    agent: (id) => (id === agentId ? policy : undefined),
    agents: () => [policy],
    defaultHuman: () => policy.responsibleHuman,
  };
}
