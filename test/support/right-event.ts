import type { Author, EventOf, TaskEvent, TaskEventKind } from '../../fabric/domain/events.ts';
import { AgentId, DecisionId, Fence, PrincipalId, QueueId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { agent, builtAtMs, fabric, human, keeper, newTaskId, newToken } from './board-builders.ts';

/** Who does what in the tests of the task core: producer, its human and submitter, a second agent. */
export const cast = {
  producer: agent('adolf'),
  reviewer: agent('reviewer'),
  human: human('alvis'),
  stranger: human('mallory'),
  keeper,
  fabric,
} as const;

const noDecision = DecisionId.parse('d-00000000000000ff');

const nextDecision = (version: number) =>
  DecisionId.parse(`d-${(version + 1).toString(16).padStart(16, '0')}`);

type Bodies = {
  readonly [K in TaskEventKind]: (
    state: TaskState,
  ) => readonly [Author, Omit<EventOf<K>, 'kind' | 'by' | 'atMs' | 'token'>];
};

const fenceOf = (state: TaskState) => state.claim?.fence ?? Fence.parse(state.version + 1);

const { producer, reviewer, human: person } = cast;

/** Author and content that have the best chance to apply: the right person, fence, attempt and question. */
const bodies: Bodies = {
  submitted: ({ task }) => [person, { task, to: 'ready' }],
  admitted: () => [person, {}],
  edited: () => [person, { priority: 1 }],
  routed: () => [fabric, { agentId: AgentId.parse('adolf'), queue: QueueId.parse('adolf') }],
  paused: () => [person, {}],
  resumed: () => [person, {}],
  claimed: () => [
    producer,
    { holder: PrincipalId.parse('adolf'), incarnation: 'incarnation-1', leaseMs: 120_000 },
  ],
  started: (state) => [producer, { fence: fenceOf(state), attempt: state.attempts + 1 }],
  released: (state) => [producer, { fence: fenceOf(state), reason: 'its process is stopping' }],
  expired: (state) => [keeper, { fence: fenceOf(state), reason: 'no beat for 120 s' }],
  failed: (state) => [producer, { fence: fenceOf(state), reason: 'exit 1', retryable: true }],
  parked: (state) => [producer, { fence: fenceOf(state), reason: 'the quota is used up' }],
  deferred: (state) => [producer, { fence: fenceOf(state), wakeAtMs: builtAtMs + 60_000 }],
  awaited: (state) => [producer, { fence: fenceOf(state), eventId: 'mail-7' }],
  arrived: () => [fabric, { eventId: 'mail-7' }],
  asked: (state) => {
    const question = {
      decisionId: nextDecision(state.version),
      kind: 'question' as const,
      text: 'Which one?',
      options: [],
      to: [person.id],
    };
    if (state.phase !== 'working') return [fabric, { question }];
    return [producer, { fence: fenceOf(state), question }];
  },
  answered: ({ question }) => [
    person,
    { decisionId: question?.decisionId ?? noDecision, value: question?.options[0] ?? 'the first' },
  ],
  uncertain: (state) => [producer, { fence: fenceOf(state), reason: 'the answer was cut' }],
  settled: (state) => [
    producer,
    { fence: fenceOf(state), outcome: { summary: 'It is done.', artifacts: [] } },
  ],
  revokeRequested: () => [person, { to: 'submitted' }],
  revoked: (state) => [producer, { fence: fenceOf(state) }],
  cancelRequested: () => [person, {}],
  canceled: (state) =>
    state.phase === 'working' ? [producer, { fence: fenceOf(state) }] : [person, {}],
  split: () => [person, { children: [newTaskId()] }],
  reviewStarted: () => [fabric, {}],
  reviewed: () => [reviewer, { verdict: 'approve', subject: 'a1b2c3' }],
  deployStarted: () => [fabric, { subject: 'a1b2c3' }],
  deployed: () => [fabric, { subject: 'a1b2c3', ok: true }],
  verified: () => [person, {}],
  refused: () => [person, { note: 'The totals are missing.' }],
  deadLettered: () => [keeper, { reason: 'poison' }],
  archived: () => [person, {}],
  noted: () => [person, { messageId: newToken(), text: 'And the appendix?' }],
  linked: () => [fabric, { relation: 'child', taskId: newTaskId() }],
  receipted: (state) => [
    fabric,
    { key: `comment-${state.version}`, status: 'published', digest: 'd1' },
  ],
};

export const eventKinds = Object.keys(bodies) as readonly TaskEventKind[];

/** The event of `kind` that `state` is most likely to take; `change` makes one thing of it wrong. */
export function rightEvent<K extends TaskEventKind>(
  state: TaskState,
  kind: K,
  change: Partial<EventOf<K>> = {},
): EventOf<K> {
  const [by, body] = bodies[kind](state);
  const event = { kind, by, atMs: builtAtMs, token: newToken(), ...body, ...change };
  // Kind and body come from one row of the table above; TypeScript can't join them by itself.
  return event as unknown as EventOf<K>;
}

/** As `rightEvent`, for code that goes through all kinds. */
export const rightEventOf = (state: TaskState, kind: TaskEventKind): TaskEvent =>
  rightEvent(state, kind);
