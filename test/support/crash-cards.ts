import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import type { Effects } from '../../fabric/domain/trust.ts';
import type { AgentPolicy, Directory } from '../../fabric/ports/directory.ts';

/** What the agents of the crash tests may do, by their name. */
export const crashAgents: Readonly<Record<string, Effects>> = {
  builder: 'workspace',
  sender: 'external',
};

/** The Cards of agents that run `concurrency` tasks at a time each, unless said otherwise one. */
export function crashCards(
  names: string | readonly string[],
  leaseMs: number,
  concurrency = 1,
): Directory {
  const responsibleHuman = AgentId.parse('alvis');
  const policyOf = (name: string): AgentPolicy => ({
    agentId: AgentId.parse(name),
    name,
    runtime: 'executor',
    queue: QueueId.parse(name),
    concurrency,
    leaseMs,
    runTimeoutMs: 60_000,
    trust: 'trusted',
    effects: crashAgents[name] ?? 'external',
    cost: 'free-local',
    asyncOnly: false,
    admit: ['human'],
    mayCall: [],
    verification: 'submitter',
    responsibleHuman,
    createdPerHour: 30,
    commit: 'c0ffee',
  });
  const policies = new Map([names].flat().map((name) => [name, policyOf(name)]));
  return {
    agent: (id) => policies.get(id),
    agents: () => [...policies.values()],
    defaultHuman: () => responsibleHuman,
  };
}
