import { TaskEvent, type Author, type EventOf } from '../../fabric/domain/events.ts';
import {
  AgentId,
  ContextId,
  DecisionId,
  Fence,
  PrincipalId,
  QueueId,
  TaskId,
} from '../../fabric/domain/ids.ts';
import type { Outcome, Question, TaskDefinition } from '../../fabric/domain/task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';

/** The instant at which built events happen unless told otherwise: 2026-11-30T09:00Z. */
export const builtAtMs = Date.UTC(2026, 10, 30, 9, 0, 0);

let built = 0;

/** A task id that no other call gives, spread like an HMAC's bits. */
export function newTaskId(): TaskId {
  built += 1;
  let hex = '';
  for (let word = 0; word < 4; word++) {
    let mixed = Math.imul(built + word * 0x9e3779b9, 0x85ebca6b) ^ (process.pid << (word + 1));
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
    hex += ((mixed ^ (mixed >>> 13)) >>> 0).toString(16).padStart(8, '0');
  }
  return TaskId.parse(`${hex.slice(0, 24)}${built.toString(16).padStart(8, '0')}`);
}

export function newToken(): string {
  built += 1;
  return `token-${process.pid}-${built}`;
}

export const agent = (id: string): Author => ({ id: PrincipalId.parse(id), role: 'agent' });
export const human = (id: string): Author => ({ id: PrincipalId.parse(id), role: 'human' });
export const keeper: Author = { id: PrincipalId.parse('keeper'), role: 'keeper' };
export const fabric: Author = { id: PrincipalId.parse('fabric'), role: 'fabric' };

/** Fields of a definition that tests vary, unbranded; `definition` takes whatever else there is. */
export interface TaskOverrides {
  readonly taskId?: TaskId;
  readonly contextId?: string;
  readonly queue?: string;
  readonly agentId?: string;
  readonly submitter?: string;
  readonly submitterRole?: 'human' | 'agent';
  readonly interlocutor?: string;
  readonly responsible?: string;
  readonly parent?: TaskId;
  readonly title?: string;
  readonly body?: string;
  readonly definition?: Partial<TaskDefinition>;
}

/** A definition that satisfies the schema: asked by `alvis` of `adolf`, effects none, verified by its submitter. */
export function taskDefinition(overrides: TaskOverrides = {}): TaskDefinition {
  const taskId = overrides.taskId ?? newTaskId();
  const agentId = AgentId.parse(overrides.agentId ?? 'adolf');
  const { interlocutor, parent } = overrides;
  return {
    taskId,
    contextId: ContextId.parse(overrides.contextId ?? `context-${taskId}`),
    intent: { title: overrides.title ?? 'Audit the log', body: overrides.body ?? 'Look at it.' },
    digest: `digest-${taskId}`,
    contextRefs: [],
    target: { kind: 'agent', agentId },
    agentId,
    queue: QueueId.parse(overrides.queue ?? agentId),
    priority: 2,
    score: 0,
    effects: 'none',
    verification: 'submitter',
    tainted: false,
    admitted: true,
    mode: 'async',
    responsible: PrincipalId.parse(overrides.responsible ?? 'alvis'),
    provenance: {
      submitter: PrincipalId.parse(overrides.submitter ?? 'alvis'),
      submitterRole: overrides.submitterRole ?? 'human',
      submitterTrust: 'human',
      ...(interlocutor === undefined ? {} : { interlocutor: PrincipalId.parse(interlocutor) }),
      ...(parent === undefined ? {} : { parent }),
      root: parent ?? taskId,
      depth: parent === undefined ? 0 : 1,
      ancestors: [],
    },
    ...overrides.definition,
  };
}

type Made<K extends TaskEvent['kind']> = Partial<EventOf<K>>;

const base = (by: Author) => ({ by, atMs: builtAtMs, token: newToken() });

/** v1. `task` varies the definition, `event` the event itself (`to`, `atMs`, `token`, `by`). */
export function submittedEvent(
  task: TaskOverrides = {},
  event: Made<'submitted'> = {},
): EventOf<'submitted'> {
  const definition = taskDefinition(task);
  const { submitter: id, submitterRole: role } = definition.provenance;
  const to = definition.notBeforeAtMs === undefined ? 'ready' : 'scheduled';
  return { kind: 'submitted', ...base({ id, role }), task: definition, to, ...event };
}

/** A claim by `holder`; with `attempt: 1` it is a start too. */
export function claimedBy(holder: string, event: Made<'claimed'> = {}): EventOf<'claimed'> {
  const by = agent(holder);
  return {
    kind: 'claimed',
    ...base(by),
    holder: by.id,
    incarnation: `incarnation-of-${holder}`,
    leaseMs: 120_000,
    ...event,
  };
}

export function startedBy(
  holder: string,
  fence: number,
  event: Made<'started'> = {},
): EventOf<'started'> {
  return {
    kind: 'started',
    ...base(agent(holder)),
    fence: Fence.parse(fence),
    attempt: 1,
    ...event,
  };
}

export function releasedBy(
  holder: string,
  fence: number,
  event: Made<'released'> = {},
): EventOf<'released'> {
  return {
    kind: 'released',
    ...base(agent(holder)),
    fence: Fence.parse(fence),
    reason: 'stopped',
    ...event,
  };
}

export function failedBy(
  holder: string,
  fence: number,
  event: Made<'failed'> = {},
): EventOf<'failed'> {
  return {
    kind: 'failed',
    ...base(agent(holder)),
    fence: Fence.parse(fence),
    reason: 'exit',
    retryable: true,
    ...event,
  };
}

export function settledBy(
  holder: string,
  fence: number,
  outcome: Partial<Outcome> = {},
  event: Made<'settled'> = {},
): EventOf<'settled'> {
  return {
    kind: 'settled',
    ...base(agent(holder)),
    fence: Fence.parse(fence),
    outcome: { summary: 'It is done.', artifacts: [], ...outcome },
    ...event,
  };
}

export function verifiedBy(person: string, event: Made<'verified'> = {}): EventOf<'verified'> {
  return { kind: 'verified', ...base(human(person)), ...event };
}

export function notedBy(person: string, text: string, event: Made<'noted'> = {}): EventOf<'noted'> {
  return { kind: 'noted', ...base(human(person)), messageId: newToken(), text, ...event };
}

export function askedBy(
  holder: string,
  fence: number,
  to: readonly string[],
  event: Made<'asked'> = {},
): EventOf<'asked'> {
  return {
    kind: 'asked',
    ...base(agent(holder)),
    fence: Fence.parse(fence),
    question: questionTo(to),
    ...event,
  };
}

export function questionTo(to: readonly string[], question: Partial<Question> = {}): Question {
  return {
    decisionId: DecisionId.parse('d-0123456789abcdef'),
    kind: 'question',
    text: 'Which one?',
    options: [],
    to: to.map((person) => PrincipalId.parse(person)),
    ...question,
  };
}

/** Submits a task and returns its id. */
export async function submitted(
  board: TaskBoard,
  task: TaskOverrides = {},
  event: Made<'submitted'> = {},
): Promise<TaskId> {
  const made = submittedEvent(task, event);
  await appendAll(board, made.task.taskId, [made]);
  return made.task.taskId;
}

/** Appends `events` after the log's last one, one by one; every one of them has to get its slot. */
export async function appendAll(
  board: TaskBoard,
  uid: TaskId,
  events: readonly TaskEvent[],
): Promise<void> {
  let version = (await board.read(uid))?.events.length ?? 0;
  for (const event of events) {
    version += 1;
    const answer = await board.append(uid, version, TaskEvent.parse(event));
    if (answer !== 'appended') {
      throw new Error(`The event ${event.kind} at version ${version} of ${uid} got ${answer}.`);
    }
  }
}
