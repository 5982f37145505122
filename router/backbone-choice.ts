import { modelMisfits, agentMisfits } from './candidate-filter.ts';
import { choiceOrder } from './choice-order.ts';
import type { Backbone, CandidateVerdict, RoutedTask } from './decision.ts';
import type { TierDemand } from './effective-tier.ts';
import { grantMetered } from './metered-grant.ts';
import type { Candidate, ModelCandidate } from './model-candidate.ts';
import type { RouterSnapshot } from './router-snapshot.ts';
import type { Need } from './target.ts';
import { tierRank } from './tier.ts';

export interface BackboneChoice {
  readonly backbone?: Backbone;
  readonly verdicts: readonly CandidateVerdict[];
  /** Nothing fits, whatever the time. */
  readonly hopeless: boolean;
}

interface BackboneQuestion {
  readonly task: RoutedTask;
  readonly models: readonly ModelCandidate[];
  readonly needs: readonly Need[];
  readonly demand: TierDemand;
  /** Whose opt-in and budget stand behind a metered call. */
  readonly payer: Candidate | undefined;
  readonly snapshot: RouterSnapshot;
}

type Now = { readonly backbone: Backbone } | Pick<CandidateVerdict, 'reasons' | 'untilMs'>;

/** Filters, asks for availability and grants, and takes the first in order. Pure. */
export function chooseBackbone(question: BackboneQuestion): BackboneChoice {
  const { models, snapshot, task } = question;
  const verdicts: CandidateVerdict[] = [];
  const fitting: ModelCandidate[] = [];
  const lowest = lowestTier(question);
  for (const model of models) {
    const misfits = [...misfitsOf(model, question.needs), ...tierMisfits(model, question, lowest)];
    if (misfits.length === 0) fitting.push(model);
    else verdicts.push(verdictOn(model, 'filtered', { reasons: misfits }));
  }
  let backbone: Backbone | undefined;
  for (const model of choiceOrder(fitting, snapshot, task.taskId)) {
    const now = nowFor(model, question);
    if (!('backbone' in now)) verdicts.push(verdictOn(model, 'unavailable', now));
    else if (backbone !== undefined) verdicts.push(verdictOn(model, 'passedOver', { reasons: [] }));
    else {
      backbone = now.backbone;
      verdicts.push(verdictOn(model, 'chosen', { reasons: [] }));
    }
  }
  const hopeless = fitting.length === 0;
  return { ...(backbone && { backbone }), verdicts, hopeless };
}

const misfitsOf = (model: ModelCandidate, needs: readonly Need[]): readonly string[] => [
  ...agentMisfits(model, needs),
  ...modelMisfits(model, needs),
];

/** The pool: the lowest tier at or above the one asked for in which a model fits at all. */
function lowestTier({ models, needs, demand }: BackboneQuestion): number {
  const asked = demand.tier === undefined ? 0 : tierRank(demand.tier);
  const ranks = models
    .filter((model) => tierRank(model.tier) >= asked && misfitsOf(model, needs).length === 0)
    .map((model) => tierRank(model.tier));
  return Math.min(...ranks);
}

function tierMisfits(
  model: ModelCandidate,
  { demand }: BackboneQuestion,
  lowest: number,
): readonly string[] {
  if (demand.tier === undefined) return [];
  const rank = tierRank(model.tier);
  if (rank < tierRank(demand.tier)) return [`tier is ${model.tier}, ${demand.tier} is needed`];
  // A wider tier than asked for is escalation, and escalation always asks.
  if (demand.exact && rank > lowest) return [`tier ${model.tier} is more than was asked for`];
  return [];
}

function nowFor(model: ModelCandidate, { snapshot, payer }: BackboneQuestion): Now {
  const { agentId: modelAgentId, gatewayModel } = model;
  const availability = snapshot.availability.get(modelAgentId);
  if (availability?.a === 0) return availability;
  if (model.cost !== 'metered') {
    return { backbone: { modelAgentId, gatewayModel, cost: model.cost } };
  }
  const budget = payer === undefined ? undefined : snapshot.budgets.get(payer.agentId);
  const answer = grantMetered(model, payer, budget);
  if (answer.granted) {
    return { backbone: { modelAgentId, gatewayModel, cost: 'metered', grant: answer.grant } };
  }
  const { reason, untilMs } = answer;
  return { reasons: [reason], ...(untilMs !== undefined && { untilMs }) };
}

function verdictOn(
  { agentId, gatewayModel, tier, cost }: ModelCandidate,
  verdict: CandidateVerdict['verdict'],
  { reasons, untilMs }: Pick<CandidateVerdict, 'reasons' | 'untilMs'>,
): CandidateVerdict {
  const facts = { agentId, gatewayModel, tier, cost, verdict, reasons };
  return { ...facts, ...(untilMs !== undefined && { untilMs }) };
}
