import type { AgentOption } from './agent-option.ts';
import { chooseBackbone } from './backbone-choice.ts';
import { barredOption } from './barred.ts';
import { agentMisfits } from './candidate-filter.ts';
import type { CandidateVerdict, RoutedTask } from './decision.ts';
import { tierDemand } from './effective-tier.ts';
import type { TierDemand } from './effective-tier.ts';
import type { Candidate, ModelCandidate } from './model-candidate.ts';
import type { RouterSnapshot } from './router-snapshot.ts';
import type { Need, Target } from './target.ts';

/** What an option is weighed against. */
export interface Weighing {
  readonly task: RoutedTask;
  readonly target: Target;
  readonly needs: readonly Need[];
  readonly models: readonly ModelCandidate[];
  readonly snapshot: RouterSnapshot;
}

/** Weighs one named agent: itself, and the backbone that it would get. Pure. */
export function weighAgent(candidate: Candidate, weighing: Weighing): AgentOption {
  const { task, target, needs, models, snapshot } = weighing;
  const barred = barredOption(task, candidate.agentId);
  if (barred !== undefined) return barred;
  switch (candidate.kind) {
    case 'fixed':
      return ownOption(candidate, weighing, { exact: false, source: 'none' });
    case 'model': {
      const payer = snapshot.candidates.get(task.submitterId);
      const demand: TierDemand = { exact: false, source: 'target' };
      return weighPool(candidate.agentId, weighing, { models: [candidate], needs, payer, demand });
    }
    case 'persona': {
      const demand = tierDemand(task, target, candidate.need);
      const own = ownOption(candidate, weighing, demand);
      if (own.fate === 'unfit') return own;
      // Skill words and trust are asked of the persona, not of what it runs on.
      const wanted = [...needs, candidate.need].map(backboneNeed);
      const pool = { models, needs: wanted, payer: candidate, demand };
      return joined(own, weighPool(candidate.agentId, weighing, pool));
    }
  }
}

function backboneNeed({ tools, minContext, modality, cost }: Need): Need {
  return {
    ...(tools !== undefined && { tools }),
    ...(minContext !== undefined && { minContext }),
    ...(modality && { modality }),
    ...(cost && { cost }),
  };
}

interface Pool {
  readonly models: readonly ModelCandidate[];
  readonly needs: readonly Need[];
  readonly payer: Candidate | undefined;
  readonly demand: TierDemand;
}

/** Weighs a set of models as one option, in the name of `agentId`. */
export function weighPool(agentId: string, { task, snapshot }: Weighing, pool: Pool): AgentOption {
  const { backbone, verdicts, hopeless } = chooseBackbone({ task, snapshot, ...pool });
  const option = { agentId, demand: pool.demand, verdicts };
  if (backbone !== undefined) return { ...option, fate: 'free', backbone, reasons: [] };
  if (hopeless) return { ...option, fate: 'unfit', reasons: hopelessReasons(verdicts) };
  const waiting = verdicts.filter(({ verdict }) => verdict === 'unavailable');
  const reasons = waiting.map(({ agentId: id, reasons: why }) => `${id}: ${why.join('; ')}`);
  const instants = waiting.flatMap(({ untilMs }) => untilMs ?? []);
  const untilMs = instants.length === 0 ? {} : { untilMs: Math.min(...instants) };
  return { ...option, fate: 'waiting', reasons, ...untilMs };
}

function hopelessReasons(verdicts: readonly CandidateVerdict[]): readonly string[] {
  if (verdicts.length === 0) return ['no model agent is registered; add a Card with runtime model'];
  return verdicts.map(({ agentId, reasons }) => `${agentId}: ${reasons.join('; ')}`);
}

function ownOption(candidate: Candidate, weighing: Weighing, demand: TierDemand): AgentOption {
  const { agentId } = candidate;
  const { needs, snapshot } = weighing;
  const misfits = agentMisfits(candidate, needs);
  const availability = snapshot.availability.get(agentId);
  const option = { agentId, demand };
  const facts = {
    agentId,
    ...(candidate.kind === 'fixed' && { cost: candidate.cost }),
  };
  if (misfits.length > 0) {
    const verdicts = [{ ...facts, verdict: 'filtered' as const, reasons: misfits }];
    return { ...option, fate: 'unfit', reasons: misfits, verdicts };
  }
  if (availability?.a === 0) {
    const { reasons, untilMs } = availability;
    const until = untilMs === undefined ? {} : { untilMs };
    const verdicts = [{ ...facts, verdict: 'unavailable' as const, reasons, ...until }];
    return { ...option, fate: 'waiting', reasons, ...until, verdicts };
  }
  const verdicts = [{ ...facts, verdict: 'chosen' as const, reasons: [] }];
  return { ...option, fate: 'free', reasons: [], verdicts };
}

/** Both must be free; both are waited for, so the later instant counts, and an unknown one hides it. */
function joined(own: AgentOption, pool: AgentOption): AgentOption {
  const served = pool.verdicts.map((verdict) => ({ ...verdict, serves: own.agentId }));
  const verdicts = [...own.verdicts, ...served];
  if (pool.fate === 'unfit' || own.fate === 'free') return { ...pool, verdicts };
  const reasons = [...own.reasons, ...pool.reasons];
  const known = [own, pool].filter(({ fate }) => fate === 'waiting').map(({ untilMs }) => untilMs);
  const instants = known.filter((untilMs) => untilMs !== undefined);
  const until =
    instants.length < known.length || instants.length === 0
      ? {}
      : { untilMs: Math.max(...instants) };
  const { agentId, demand } = own;
  return { agentId, demand, fate: 'waiting', reasons, ...until, verdicts };
}
