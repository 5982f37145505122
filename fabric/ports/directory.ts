import type { AgentId, QueueId } from '../domain/ids.ts';
import type { CostClass, Effects, Tier, TrustClass, VerificationPolicy } from '../domain/trust.ts';

/** What a Card tells the fabric about an agent. `cards/registry` makes it; the fabric reads no Card. */
export interface AgentPolicy {
  readonly agentId: AgentId;
  readonly name: string;
  readonly runtime: string;
  readonly queue: QueueId;
  /** Runs at once; sync and async runs share these slots. */
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly runTimeoutMs: number;
  readonly trust: TrustClass;
  readonly effects: Effects;
  readonly cost: CostClass;
  readonly tier?: Tier;
  /** Never run while a caller waits: humans, scarce queues. */
  readonly asyncOnly: boolean;
  /** Principals or trust classes whose submits are ready at once. Empty: nobody. */
  readonly admit: readonly string[];
  /** Agent ids this agent may submit to; `*` for all. Empty: nobody. */
  readonly mayCall: readonly string[];
  readonly verification: VerificationPolicy;
  readonly responsibleHuman: AgentId;
  readonly createdPerHour: number;
  /** The git commit this policy was read from. */
  readonly commit: string;
}

/** The newest good set of Cards, as policies. Answers at once, from memory. */
export interface Directory {
  agent(agentId: string): AgentPolicy | undefined;
  agents(): readonly AgentPolicy[];
  /** The human that questions go to where no other is named. */
  defaultHuman(): AgentId;
}
