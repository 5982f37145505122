import type { AgentOption } from './agent-option.ts';
import type { CandidateVerdict, RoutedTask } from './decision.ts';
import type { TierDemand } from './effective-tier.ts';
import type { ModelCandidate } from './model-candidate.ts';

const verdictOn = (agentId: string, why: string): CandidateVerdict => ({
  agentId,
  verdict: 'filtered',
  reasons: [why],
});

/** An agent that this task may not go to, as an option nobody takes; undefined where it may. */
export function barredOption(
  { barred }: Pick<RoutedTask, 'barred'>,
  agentId: string,
): AgentOption | undefined {
  const why = barred?.get(agentId);
  if (why === undefined) return undefined;
  const demand: TierDemand = { exact: false, source: 'none' };
  return { agentId, demand, fate: 'unfit', reasons: [why], verdicts: [verdictOn(agentId, why)] };
}

/**
 * Weighs the models that this task may go to, and says of the others why not. A model that only serves a
 * persona is called by nobody, so this is about models that would be the agent themselves.
 */
export function weighOpen(
  { barred }: Pick<RoutedTask, 'barred'>,
  models: readonly ModelCandidate[],
  demand: TierDemand,
  weigh: (open: readonly ModelCandidate[]) => AgentOption,
): AgentOption {
  const shut = models.flatMap(({ agentId }) => {
    const why = barred?.get(agentId);
    return why === undefined ? [] : [verdictOn(agentId, why)];
  });
  if (shut.length === 0) return weigh(models);
  const reasons = shut.flatMap((verdict) => verdict.reasons);
  if (shut.length === models.length) {
    return { agentId: '', demand, fate: 'unfit', reasons, verdicts: shut };
  }
  const option = weigh(models.filter(({ agentId }) => !barred?.has(agentId)));
  const verdicts = [...option.verdicts, ...shut];
  if (option.fate !== 'unfit') return { ...option, verdicts };
  return { ...option, verdicts, reasons: [...option.reasons, ...reasons] };
}
