import type { CostClass, Tier, TrustClass } from '../fabric/domain/trust.ts';
import type { WorkingHours } from './availability/working-hours.ts';
import type { QuotaWindow } from './ledger/quota-window.ts';
import type { Modality, Need } from './target.ts';

interface Routable {
  readonly agentId: string;
  readonly trust: TrustClass;
  /** Skill and capability words that a need may name. */
  readonly caps: readonly string[];
  /** Model agents that this agent may have called for money. Empty: none, the default. */
  readonly optInMetered: readonly string[];
  readonly hours?: WorkingHours;
  /** On demand, and nothing has woken it. */
  readonly asleep?: boolean;
}

/** A model agent: what the gateway serves under one name. */
export interface ModelCandidate extends Routable {
  readonly kind: 'model';
  /** LiteLLM's `model_name`: a pin or a `tier/<tier>` group. */
  readonly gatewayModel: string;
  readonly tier: Tier;
  readonly cost: CostClass;
  readonly contextTokens: number;
  readonly tools: boolean;
  readonly modality: readonly Modality[];
  /** Shared with every Card of the same subscription by their `scope`. Empty: no quota. */
  readonly windows: readonly QuotaWindow[];
  readonly maxParallel: number;
  /** The operator's preference among equals; lower is taken first. */
  readonly rank: number;
  /** Gateway deployments that may answer for it; empty: not checked. */
  readonly deploymentIds: readonly string[];
}

/** A persona whose backbone is looked up at each submit. */
export interface PersonaCandidate extends Routable {
  readonly kind: 'persona';
  readonly need: Need;
}

/** A human, executor, runner or the router: it works without a backbone from the gateway. */
export interface FixedCandidate extends Routable {
  readonly kind: 'fixed';
  readonly cost: CostClass;
  readonly tier?: Tier;
}

export type Candidate = ModelCandidate | PersonaCandidate | FixedCandidate;
