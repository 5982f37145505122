import type { Card, QuotaWindow as CardWindow } from '../cards/schema/card.ts';
import type { QuotaWindow } from './ledger/quota-window.ts';
import type { Candidate, ModelCandidate } from './model-candidate.ts';
import type { Modality, Need } from './target.ts';

export interface CandidateOptions {
  /** On-demand agents that something has woken. */
  readonly awake?: ReadonlySet<string>;
}

/** The registered Cards as the router sees them, by agent id. */
export function candidatesFrom(
  cards: Iterable<Card>,
  { awake = new Set() }: CandidateOptions = {},
): ReadonlyMap<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  for (const card of cards) candidates.set(card.id, toCandidate(card, awake.has(card.id)));
  return candidates;
}

function toCandidate(card: Card, isAwake: boolean): Candidate {
  const { windows, holidays, vacation, onDemand } = card.availability;
  const hasHours = windows.length > 0 || holidays.length > 0 || vacation !== false;
  const shared = {
    agentId: card.id,
    trust: card.trust,
    caps: [...card.skills.flatMap(({ id, tags }) => [id, ...tags]), ...(card.model?.caps ?? [])],
    optInMetered: card.optIn.metered,
    ...(hasHours && { hours: { windows, holidays, vacation } }),
    ...(onDemand && !isAwake && { asleep: true }),
  };
  if (card.model !== undefined) return { ...shared, ...toModel(card, card.model) };
  if (card.needs !== undefined) return { ...shared, kind: 'persona', need: toNeed(card.needs) };
  return { ...shared, kind: 'fixed', cost: card.cost, ...(card.tier && { tier: card.tier }) };
}

type ModelFields = Omit<ModelCandidate, 'agentId' | 'trust' | 'caps' | 'optInMetered' | 'hours'>;

function toModel(card: Card, model: NonNullable<Card['model']>): ModelFields {
  const { gateway, contextTokens, caps, windows, maxParallel } = model;
  const modality: Modality[] = ['text'];
  if (caps.includes('vision')) modality.push('image');
  if (caps.includes('audio')) modality.push('audio');
  return {
    kind: 'model',
    gatewayModel: gateway,
    // Card lint asks a model agent for its tier; without one it is never a silent choice for hard work.
    tier: card.tier ?? 'small',
    cost: card.cost,
    contextTokens,
    tools: caps.includes('tools'),
    modality,
    windows: windows.map((window) => toWindow(window, card.id)),
    maxParallel: maxParallel ?? card.queue.concurrency,
    rank: 0,
    deploymentIds: [],
  };
}

const hourMs = 3_600_000;

function toWindow({ kind, lengthMs, zone, ...window }: CardWindow, cardId: string): QuotaWindow {
  const { id, unit, cap, reserveInteractive, scope = cardId } = window;
  const facts = { id, unit, cap, reserveInteractive, scope };
  if (kind !== 'calendar') return { ...facts, shape: { kind, lengthMs } };
  const every = lengthMs <= 24 * hourMs ? 'day' : lengthMs <= 7 * 24 * hourMs ? 'week' : 'month';
  return { ...facts, shape: { kind, every, zone: zone ?? 'UTC' } };
}

function toNeed(needs: NonNullable<Card['needs']>): Need {
  const { tier, tools, contextTokens, modality, cost } = needs;
  return {
    ...(tier && { tier }),
    ...(tools && { tools }),
    ...(contextTokens !== undefined && { minContext: contextTokens }),
    modality,
    cost,
  };
}
