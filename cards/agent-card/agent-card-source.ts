import type { Card } from '../schema/card.ts';
import type { JsonObject } from './canonical-json.ts';

/** URIs of the extensions we declare (`DESIGN.md` 6.2). */
export const extensionUris = {
  submit: 'urn:cardmesh:ext:submit:v1',
  review: 'urn:cardmesh:ext:review:v1',
  events: 'urn:cardmesh:ext:events:v1',
  card: 'urn:cardmesh:ext:card:v1',
} as const;

/** What an AgentCard says, before the shape of a protocol version: every wire form comes from here. */
export interface AgentCardSource {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly url: string;
  readonly skills: readonly AgentCardSkill[];
  readonly extensions: readonly AgentCardExtension[];
}

export interface AgentCardSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
}

export interface AgentCardExtension {
  readonly uri: string;
  readonly description: string;
  readonly params?: JsonObject;
}

export interface AgentCardPlace {
  /** Where the agent is called: `https://mesh.example.org/agents/adolf/`. */
  readonly url: string;
  /** The git commit the Card was read from. */
  readonly commit: string;
  /** The model that stands behind a persona now, where one is resolved. */
  readonly backbone?: string;
}

/** For callers with a credential: skills, extensions, and what routing needs to know. */
export function fullCardSource(card: Card, place: AgentCardPlace): AgentCardSource {
  const { name, description, version, skills } = card;
  const extensions = [...protocolExtensions, cardExtension(card, place)];
  return { name, description, version, url: place.url, skills, extensions };
}

/** For everybody: enough to learn how to authenticate; no trust, tier, queue or commit. */
export function minimalCardSource(card: Card, url: string): AgentCardSource {
  const { name, description, version } = card;
  return { name, description, version, url, skills: [genericSkill], extensions: [] };
}

const genericSkill: AgentCardSkill = {
  id: 'task',
  name: 'Take a task',
  description: 'Authenticate to see what this agent can do.',
  tags: ['task'],
  examples: [],
};

const protocolExtensions: readonly AgentCardExtension[] = [
  {
    uri: extensionUris.submit,
    description: 'Target, constraints, priority, deadline and verification of a submitted task.',
  },
  {
    uri: extensionUris.review,
    description: 'Answers to questions, verdicts on finished work, and why a task stands still.',
    params: { methods: ['cardmesh/answer', 'cardmesh/verify', 'cardmesh/why'] },
  },
  {
    uri: extensionUris.events,
    description: 'Event ids on streams, and resuming after one of them.',
  },
];

function cardExtension(card: Card, { commit, backbone }: AgentCardPlace): AgentCardExtension {
  return {
    uri: extensionUris.card,
    description: 'How this agent is registered: tier, cost, trust, availability, queue, commit.',
    params: {
      ...(card.tier && { tier: card.tier }),
      costClass: card.cost,
      trust: card.trust,
      availability: availabilityWord(card),
      queue: card.queue.project,
      ...(backbone && { backbone }),
      commit,
    },
  };
}

/** The shape of the availability, never its figures. */
function availabilityWord({ availability, model }: Card): string {
  if (model !== undefined && model.windows.length > 0) return 'quota';
  if (availability.budget) return 'budget';
  if (availability.residency) return 'residency';
  if (availability.onDemand) return 'on-demand';
  return availability.windows.length > 0 ? 'hours' : 'always';
}
