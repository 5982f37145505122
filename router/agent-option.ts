import type { Backbone, CandidateVerdict } from './decision.ts';
import type { TierDemand } from './effective-tier.ts';

/** One agent weighed for one task. */
export interface AgentOption {
  readonly agentId: string;
  readonly fate: 'free' | 'waiting' | 'unfit';
  readonly backbone?: Backbone;
  readonly demand: TierDemand;
  /** Why it is not free. */
  readonly reasons: readonly string[];
  /** Waiting: when it should be free; absent: nobody knows. */
  readonly untilMs?: number;
  readonly verdicts: readonly CandidateVerdict[];
}
