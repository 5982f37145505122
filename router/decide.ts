import type { AgentOption } from './agent-option.ts';
import type { Explanation, RejectReason, RouteDecision, RoutedTask } from './decision.ts';
import { weighOpen } from './barred.ts';
import { tierDemand } from './effective-tier.ts';
import type { TierDemand } from './effective-tier.ts';
import type { Candidate, ModelCandidate } from './model-candidate.ts';
import type { RouterSnapshot } from './router-snapshot.ts';
import type { Need, Target } from './target.ts';
import { weighAgent, weighPool } from './weigh-agent.ts';
import type { Weighing } from './weigh-agent.ts';

/**
 * Target → agent → model, or wait, or no (`DESIGN.md` 9). Pure: the same task, target, snapshot and instant
 * always decide the same, so a decision can be replayed. Never throws; a refusal is a value.
 */
export function decide(
  task: RoutedTask,
  target: Target,
  snapshot: RouterSnapshot,
  nowMs: number,
): RouteDecision {
  const named = target.kind === 'constraints' ? [target.need] : [];
  const needs = [...named, ...(task.need === undefined ? [] : [task.need])];
  const models = modelsOf(snapshot);
  const weighing = { task, target, needs, models, snapshot };
  const explain = explained(weighing, nowMs);
  if (target.kind === 'agent') {
    const candidate = snapshot.candidates.get(target.agentId);
    if (candidate === undefined) {
      const reasons = [`no agent ${target.agentId} is registered at commit ${snapshot.commit}`];
      return rejected('unknownAgent', reasons, explain([], { exact: false, source: 'target' }));
    }
    return settled([weighAgent(candidate, weighing)], weighing, nowMs);
  }
  const skilled = skilledOptions(weighing);
  const demand = tierDemand(task, target);
  const payer = snapshot.candidates.get(task.submitterId);
  const weigh = (open: readonly ModelCandidate[]) =>
    weighPool('', weighing, { models: open, needs, payer, demand });
  if (demand.source === 'none' && skilled.every(({ fate }) => fate === 'unfit')) {
    // A score helps only where a model of some size could do it.
    const ofAnySize = weighOpen(task, models, demand, weigh);
    if (ofAnySize.fate === 'unfit') return settled([...skilled, ofAnySize], weighing, nowMs);
    const reasons = ['the tier would come from a score and the task has none; rate it 1 to 21'];
    return rejected('needsScore', reasons, explain(skilled, demand));
  }
  const pool = demand.source === 'none' ? [] : [weighOpen(task, models, demand, weigh)];
  return settled([...skilled, ...pool], weighing, nowMs);
}

const modelsBySnapshot = new WeakMap<RouterSnapshot['candidates'], readonly ModelCandidate[]>();

function modelsOf({ candidates }: RouterSnapshot): readonly ModelCandidate[] {
  const known = modelsBySnapshot.get(candidates);
  if (known !== undefined) return known;
  const models = [...candidates.values()].filter((one) => one.kind === 'model');
  modelsBySnapshot.set(candidates, models);
  return models;
}

/** Personas and programs are candidates only where a skill is named: else every task would fit anybody. */
function skilledOptions(weighing: Weighing): readonly AgentOption[] {
  const { needs, snapshot, task } = weighing;
  if (!needs.some(({ caps }) => caps !== undefined)) return [];
  return [...snapshot.candidates.values()]
    .filter(({ kind, agentId }) => kind !== 'model' && agentId !== task.submitterId)
    .map((candidate) => weighAgent(candidate, weighing))
    .map((option) => withoutImplicitCost(option, snapshot.candidates.get(option.agentId), needs));
}

/** A program that costs money is never anybody's silent choice: only by its name, or where `cost` names it. */
function withoutImplicitCost(
  option: AgentOption,
  candidate: Candidate | undefined,
  needs: readonly Need[],
): AgentOption {
  if (candidate?.kind !== 'fixed') return option;
  const wanted = needs.flatMap(({ cost }) => cost ?? []);
  const fits = wanted.length === 0 ? candidate.cost !== 'metered' : wanted.includes(candidate.cost);
  if (fits) return option;
  const reasons = [`cost class is ${candidate.cost}, which was not asked for`];
  const { agentId, demand } = option;
  const verdicts = [{ agentId, cost: candidate.cost, verdict: 'filtered' as const, reasons }];
  return { agentId, demand, fate: 'unfit', reasons, verdicts };
}

/** The first that is free; else the wait for the first that will be; else no. */
function settled(
  options: readonly AgentOption[],
  weighing: Weighing,
  nowMs: number,
): RouteDecision {
  const free = options.find(({ fate }) => fate === 'free');
  const first = free ?? options.find(({ fate }) => fate === 'waiting') ?? options.at(-1);
  const explain = explained(weighing, nowMs)(
    options.map((option) => (option === free ? option : passedOver(option))),
    first?.demand ?? { exact: false, source: 'none' },
  );
  if (free !== undefined) return routed(free, explain);
  const waiting = options.filter(({ fate }) => fate === 'waiting');
  if (waiting.length === 0) return rejected('noCandidate', misfitsOf(options), explain);
  return parked(waiting, weighing.task.deadlineMs, explain);
}

function routed({ agentId, backbone }: AgentOption, explain: Explanation): RouteDecision {
  if (backbone === undefined) return { do: 'route', agentId, explain };
  return { do: 'route', agentId: agentId || backbone.modelAgentId, backbone, explain };
}

function parked(
  waiting: readonly AgentOption[],
  deadlineMs: number | undefined,
  explain: Explanation,
): RouteDecision {
  const reasons = reasonsOf(waiting);
  const instants = waiting.flatMap(({ untilMs }) => untilMs ?? []);
  if (instants.length === 0) return { do: 'park', reasons, explain };
  const untilMs = Math.min(...instants);
  if (deadlineMs !== undefined && deadlineMs < untilMs && instants.length === waiting.length) {
    return rejected('deadlineBeforeFree', reasons, explain);
  }
  return { do: 'park', untilMs, reasons, explain };
}

const reasonsOf = (options: readonly AgentOption[]): readonly string[] =>
  options.flatMap(({ reasons }) => reasons);

const mostNamed = 4;

/** Why nobody can do it: each reason once, with those it keeps out. */
function misfitsOf(options: readonly AgentOption[]): readonly string[] {
  const kept = new Map<string, Set<string>>();
  for (const { agentId, reasons } of options.flatMap(({ verdicts }) => verdicts)) {
    const why = reasons.join('; ');
    kept.set(why, (kept.get(why) ?? new Set()).add(agentId));
  }
  if (kept.size === 0) return reasonsOf(options);
  return [...kept].map(([why, agents]) => {
    const names = [...agents];
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
    return `${names.slice(0, mostNamed).join(', ')}${more}: ${why}`;
  });
}

function passedOver(option: AgentOption): AgentOption {
  const verdicts = option.verdicts.map((one) =>
    one.verdict === 'chosen' ? { ...one, verdict: 'passedOver' as const } : one,
  );
  return { ...option, verdicts };
}

const rejected = (
  why: RejectReason,
  reasons: readonly string[],
  explain: Explanation,
): RouteDecision => ({ do: 'reject', why, reasons, explain });

const explained =
  ({ target, snapshot }: Weighing, atMs: number) =>
  (options: readonly AgentOption[], demand: TierDemand): Explanation => ({
    target,
    atMs,
    commit: snapshot.commit,
    ...(demand.tier && { tier: demand.tier }),
    tierSource: demand.source,
    candidates: options.flatMap(({ verdicts }) => verdicts),
  });
