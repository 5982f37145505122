import { a2aViewOf, isTerminal } from '../../fabric/domain/a2a-state.ts';
import { isForReviewers } from '../../fabric/domain/access.ts';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { BrokenLogError, fold } from '../../fabric/domain/fold.ts';
import type { QueueId, TaskId } from '../../fabric/domain/ids.ts';
import { takingRank } from '../../fabric/domain/order.ts';
import { phases, type Phase, type TaskState } from '../../fabric/domain/state.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { humanFor } from '../../fabric/domain/transition/questions.ts';
import type {
  Appended,
  Durability,
  QueueDepth,
  Beats,
  TaskLog,
  TaskPage,
  TaskQuery,
} from '../../fabric/ports/task-board.ts';

interface StoredLog {
  events: readonly TaskEvent[];
  state: TaskState;
  broken: BrokenLogError | undefined;
  /** How many of the events survive a death of `writer`. */
  durable: number;
  writer: string;
  beats: Beats | undefined;
}

/** Hears of everything that happens in the store, at the instant it happens. */
export interface StoreListener {
  wrote?(uid: TaskId, event: TaskEvent, state: TaskState, before: TaskState | undefined): void;
  /** A slot was taken: `there` stays, `tried` is refused. */
  refused?(uid: TaskId, tried: TaskEvent, there: TaskEvent): void;
  beat?(uid: TaskId, version: number): void;
  lost?(uid: TaskId, events: readonly TaskEvent[]): void;
}

/** Where the logs lie: one store for many boards, as one database serves many processes. */
export interface MemoryStore {
  append(
    uid: TaskId,
    version: number,
    event: TaskEvent,
    durability: Durability,
    writer: string,
  ): Appended;
  read(uid: TaskId): TaskLog | undefined;
  list(queue: QueueId, nowMs: number, limit: number): readonly TaskId[];
  find(query: TaskQuery): TaskPage;
  resolve(taskRef: string): TaskId | undefined;
  beat(uid: TaskId, version: number, nowMs: number): void;
  depths(): readonly QueueDepth[];
  watch(onChange: (uid: TaskId, state: TaskState) => void): () => void;
  /** Makes what `writer` has buffered durable. */
  commit(writer: string): void;
  /** What `writer` had buffered is gone, as after its death. */
  lose(writer: string): void;
  logs(): ReadonlyMap<TaskId, readonly TaskEvent[]>;
}

/** As `transition` has it; an event that does not apply breaks the log, since a store checks no rule. */
function grown(log: StoredLog | undefined, event: TaskEvent): Pick<StoredLog, 'state' | 'broken'> {
  const next = transition(log?.state, event);
  if (next.ok) return { state: next.state, broken: log?.broken };
  if (log === undefined) throw new BrokenLogError(1, next.reason);
  return { state: log.state, broken: new BrokenLogError(log.events.length + 1, next.reason) };
}

/** Task logs in memory, answering at once. */
export function memoryStore(listener: StoreListener = {}): MemoryStore {
  const stored = new Map<TaskId, StoredLog>();
  const index = new PhaseIndex();
  const buffered = new Map<string, Set<TaskId>>();
  const watchers = new Set<(uid: TaskId, state: TaskState) => void>();
  const bufferOf = (writer: string): Set<TaskId> => {
    const known = buffered.get(writer) ?? new Set();
    buffered.set(writer, known);
    return known;
  };
  const commit = (writer: string) => {
    for (const uid of bufferOf(writer)) {
      const log = stored.get(uid);
      if (log) log.durable = log.events.length;
    }
    bufferOf(writer).clear();
  };
  const lose = (writer: string) => {
    for (const uid of bufferOf(writer)) {
      const log = stored.get(uid);
      if (!log || log.durable === log.events.length) continue;
      listener.lost?.(uid, log.events.slice(log.durable));
      const state = fold(log.events.slice(0, log.durable));
      index.put(uid, state);
      if (state === undefined) stored.delete(uid);
      else
        Object.assign(log, { events: log.events.slice(0, log.durable), state, beats: undefined });
    }
    bufferOf(writer).clear();
  };
  const put = (uid: TaskId, event: TaskEvent, durability: Durability, writer: string) => {
    const log = stored.get(uid);
    const events = [...(log?.events ?? []), event];
    const durable = durability === 'committed' ? events.length : (log?.durable ?? 0);
    const next = { ...grown(log, event), events, durable, writer };
    const isSameClaim = log?.beats && next.state.claim?.fence === log.beats.version;
    const version = next.state.claim?.fence;
    const fresh = version === undefined ? undefined : { version, count: 0 };
    const { state: before } = log ?? {};
    stored.set(uid, { ...next, beats: isSameClaim ? log.beats : fresh });
    index.put(uid, next.state);
    if (durability === 'committed') commit(writer);
    else bufferOf(writer).add(uid);
    listener.wrote?.(uid, event, next.state, before);
    for (const watcher of watchers) watcher(uid, next.state);
  };
  return {
    append(uid, version, event, durability, writer) {
      const events = stored.get(uid)?.events ?? [];
      const there = events[version - 1];
      if (there) {
        if (there.token === event.token && there.kind === event.kind) {
          if (durability === 'committed') commit(writer);
          return 'appended';
        }
        listener.refused?.(uid, event, there);
        return 'conflict';
      }
      if (version !== events.length + 1) return 'conflict';
      put(uid, event, durability, writer);
      return 'appended';
    },
    read(uid) {
      const log = stored.get(uid);
      if (log?.broken) throw log.broken;
      return log && { uid, events: log.events, state: log.state, beats: log.beats };
    },
    beat(uid, version, nowMs) {
      const log = stored.get(uid);
      if (log?.beats?.version !== version) return;
      log.beats = { version, count: log.beats.count + 1, lastAtMs: nowMs };
      listener.beat?.(uid, version);
    },
    ...searchOf(stored, index),
    watch(onChange) {
      watchers.add(onChange);
      return () => watchers.delete(onChange);
    },
    commit,
    lose,
    logs: () => new Map([...stored].map(([uid, { events }]) => [uid, events])),
  };
}

/** The tasks of each phase, so that a look at few does not cost a look at all. */
class PhaseIndex {
  readonly #phaseOf = new Map<TaskId, Phase>();
  readonly #in = new Map<Phase, Map<TaskId, TaskState>>();

  put(uid: TaskId, state: TaskState | undefined): void {
    const was = this.#phaseOf.get(uid);
    if (was !== undefined && was !== state?.phase) this.#in.get(was)?.delete(uid);
    if (state === undefined) {
      this.#phaseOf.delete(uid);
      return;
    }
    this.#phaseOf.set(uid, state.phase);
    const there = this.#in.get(state.phase) ?? new Map<TaskId, TaskState>();
    this.#in.set(state.phase, there.set(uid, state));
  }

  of(wanted: readonly Phase[]): TaskState[] {
    return wanted.flatMap((phase) => [...(this.#in.get(phase)?.values() ?? [])]);
  }
}

const claimable = ['ready', 'scheduled'] as const;
const leased = ['claimed', 'working'] as const;

function searchOf(
  stored: ReadonlyMap<TaskId, StoredLog>,
  index: PhaseIndex,
): Pick<MemoryStore, 'list' | 'find' | 'resolve' | 'depths'> {
  const states = (): TaskState[] => [...stored.values()].map(({ state }) => state);
  return {
    list: (queue, nowMs, limit) =>
      index
        .of(claimable)
        .filter((state) => state.queue === queue && isClaimable(state, nowMs))
        .sort(
          (a, b) =>
            takingRank(a) - takingRank(b) ||
            a.submittedAtMs - b.submittedAtMs ||
            (a.taskId < b.taskId ? -1 : 1),
        )
        .slice(0, limit)
        .map(({ taskId }) => taskId),
    find: (query) =>
      page(query.leasesOnly ? index.of(leased) : index.of(query.phases ?? phases), query),
    resolve(taskRef) {
      const prefix = /^(?:task:)?([0-9a-f]{6,32})$/.exec(taskRef)?.[1];
      if (prefix === undefined) return undefined;
      const [one, ...others] = [...stored.keys()].filter((uid) => uid.startsWith(prefix));
      return others.length === 0 ? one : undefined;
    },
    depths: () => depthsOf(states()),
  };
}

const isClaimable = (state: TaskState, nowMs: number): boolean =>
  (state.notBeforeAtMs ?? 0) <= nowMs;

function page(states: readonly TaskState[], query: TaskQuery): TaskPage {
  const { limit, cursor } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new InvalidValueError(
      `A page of ${limit} tasks was asked for; ask for 1 to 500.`,
      'limit',
    );
  }
  const found = states
    .filter((state) => matches(state, query))
    .sort((a, b) => b.phaseAtMs - a.phaseAtMs || (a.taskId < b.taskId ? -1 : 1));
  const from = cursor === undefined ? 0 : found.findIndex(({ taskId }) => taskId === cursor) + 1;
  if (cursor !== undefined && !/^[0-9a-f]{32}$/.test(cursor)) {
    throw new InvalidValueError('The cursor is none that a page of tasks ended with.', 'cursor');
  }
  const shown = found.slice(from, from + limit);
  const last = shown.at(-1);
  const isMore = last !== undefined && from + limit < found.length;
  return { states: shown, total: found.length, ...(isMore ? { cursor: last.taskId } : {}) };
}

function matches(state: TaskState, query: TaskQuery): boolean {
  const { provenance } = state.task;
  const by = query.submittedBy;
  const is = <T>(wanted: T | undefined, has: T | undefined) =>
    wanted === undefined || wanted === has;
  return (
    is(query.contextId, state.contextId) &&
    is(query.agentId, state.agentId) &&
    is(query.queue, state.queue) &&
    is(query.parent, provenance.parent) &&
    (query.principal === undefined ||
      concerns(state, query.principal) ||
      (query.reviewer === true && isForReviewers(state))) &&
    (query.phases === undefined || query.phases.includes(state.phase)) &&
    is(query.shownAs, a2aViewOf(state).state) &&
    (!query.openOnly || !isTerminal(a2aViewOf(state).state)) &&
    (query.dueBeforeMs === undefined || (state.deadlineAtMs ?? Infinity) <= query.dueBeforeMs) &&
    (query.changedSinceMs === undefined || state.phaseAtMs >= query.changedSinceMs) &&
    (query.endedBeforeMs === undefined ||
      (isTerminal(a2aViewOf(state).state) && state.phaseAtMs < query.endedBeforeMs)) &&
    (query.minVersion === undefined || state.version >= query.minVersion) &&
    (by === undefined || (provenance.submitter === by.id && state.submittedAtMs >= by.sinceMs))
  );
}

const concerns = (state: TaskState, principal: string): boolean =>
  new Set<string | undefined>([
    state.task.provenance.submitter,
    state.task.provenance.interlocutor,
    humanFor(state),
    state.claim?.holder,
    state.lastStartedBy,
    ...(state.question?.to ?? []),
    ...state.decisions.map(({ by }) => by),
  ]).has(principal);

const notWaiting = new Set(['claimed', 'working', 'done', 'verified', 'refused', 'canceled']);

function depthsOf(states: readonly TaskState[]): QueueDepth[] {
  const depths = new Map<string, QueueDepth>();
  for (const { queue, phase, submittedAtMs } of states) {
    if (notWaiting.has(phase)) continue;
    const known = depths.get(`${queue}/${phase}`);
    depths.set(`${queue}/${phase}`, {
      queue,
      phase,
      count: (known?.count ?? 0) + 1,
      oldestAtMs: Math.min(known?.oldestAtMs ?? Infinity, submittedAtMs),
    });
  }
  return [...depths.values()];
}
