import type { Candidate, ModelCandidate } from './model-candidate.ts';

declare const granted: unique symbol;

/** Leave to have one metered model called for one agent. Only `grantMetered` makes one. */
export interface MeteredGrant {
  readonly [granted]: true;
  readonly agentId: string;
  readonly modelAgentId: string;
  /** US dollars left when it was given. */
  readonly leftUsd: number;
  readonly resetsAtMs: number;
}

/** What an agent's gateway key may spend, as its budget was last read. */
export interface MeteredBudget {
  /** Gateway models of cost class `metered` that the key may call. */
  readonly keyAllows: readonly string[];
  readonly capUsd: number;
  readonly spentUsd: number;
  /** Ms since the epoch. A budget that never resets is no budget to go by. */
  readonly resetsAtMs: number;
}

export interface MeteredRefusal {
  readonly granted: false;
  readonly reason: string;
  /** Known only where nothing but the spent budget stands against it. */
  readonly untilMs?: number;
}

/**
 * The opt-in check (`reference/litellm.md` 5.6 rule 6): all four of Card cost, the agent's own opt-in, the
 * gateway key and an unspent budget with a reset. Anything else is a refusal that names what is missing.
 */
export function grantMetered(
  model: ModelCandidate,
  agent: Candidate | undefined,
  budget: MeteredBudget | undefined,
): { readonly granted: true; readonly grant: MeteredGrant } | MeteredRefusal {
  const name = model.agentId;
  if (model.cost !== 'metered') return refused(`${name} is not metered and needs no grant`);
  if (agent === undefined) {
    return refused(`${name} costs money and the caller has no Card with optIn.metered`);
  }
  if (!agent.optInMetered.includes(name)) {
    return refused(`${name} costs money; add it to optIn.metered of the Card of ${agent.agentId}`);
  }
  if (budget === undefined) {
    return refused(`no budget with a reset is known for the gateway key of ${agent.agentId}`);
  }
  if (!budget.keyAllows.includes(model.gatewayModel)) {
    return refused(`the gateway key of ${agent.agentId} does not allow ${model.gatewayModel}`);
  }
  const leftUsd = budget.capUsd - budget.spentUsd;
  if (!(leftUsd > 0)) {
    const spent = `${budget.spentUsd.toFixed(2)} of ${budget.capUsd.toFixed(2)} USD`;
    return {
      ...refused(`the budget of ${agent.agentId} is spent (${spent})`),
      untilMs: budget.resetsAtMs,
    };
  }
  const { resetsAtMs } = budget;
  const facts = { agentId: agent.agentId, modelAgentId: name, leftUsd, resetsAtMs };
  return { granted: true, grant: facts as MeteredGrant };
}

const refused = (reason: string): MeteredRefusal => ({ granted: false, reason });
