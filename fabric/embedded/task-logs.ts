import { InvalidValueError, MeshError } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import type { TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { TaskState } from '../domain/state.ts';
import { transition } from '../domain/transition.ts';
import type { Appended, Durability } from '../ports/task-board.ts';
import type { Write } from './group-messages.ts';
import type { GroupLine } from './group-line.ts';
import { indexWrites } from './index-row.ts';
import { keyOfTask, named } from './keys.ts';
import type { KnownTasks } from './known-tasks.ts';
import { LogCache, type CachedLog } from './log-cache.ts';
import { slotsPerLog } from './schema.ts';
import { eventsOfLogs, storedLogs, type StoredLog } from './stored-log.ts';

/** Memory for logs, as characters of their JSON; as objects they take two to three times that. */
const cachedChars = 4 * 1024 * 1024;
/** JSON of one event: a body of the greatest size, every character of it escaped once. */
const eventChars = 2 * limits.bodyBytes;

export interface TaskLogsOptions {
  readonly line: GroupLine;
  readonly known: KnownTasks;
  readonly lastNumber: number;
  /** Called at the commit of each event. */
  readonly onChange: (uid: TaskId, state: TaskState) => void;
}

/**
 * The logs of one file. This process alone writes it, so memory decides at once who gets a slot; the
 * file makes it durable, in the same order.
 */
export class TaskLogs {
  readonly #line: GroupLine;
  readonly #known: KnownTasks;
  readonly #onChange: TaskLogsOptions['onChange'];
  readonly #cache = new LogCache(cachedChars);
  readonly #loading = new Map<TaskId, Promise<StoredLog | undefined>>();
  #lastNumber: number;

  constructor({ line, known, lastNumber, onChange }: TaskLogsOptions) {
    this.#line = line;
    this.#known = known;
    this.#lastNumber = lastNumber;
    this.#onChange = onChange;
  }

  /** Drops what memory holds: after a failed group only the file tells what is true. */
  forget(): void {
    this.#cache.clear();
    this.#loading.clear();
  }

  /**
   * @throws MeshError `BAD_TRANSITION` for an event that its log refuses: a fold would stop there for ever
   * @throws MeshError `PAYLOAD_INLINE` for an event of more than 2 Mi characters
   */
  async append(
    uid: TaskId,
    version: number,
    event: TaskEvent,
    durability: Durability,
  ): Promise<Appended> {
    const loaded = this.peek(uid) ?? (await this.#load(uid));
    const log = this.#cache.get(uid) ?? loaded;
    const taken = log?.events[version - 1];
    if (taken !== undefined) {
      if (taken.token !== event.token || taken.kind !== event.kind) return 'conflict';
      await this.#line.settled();
      return 'appended';
    }
    if (version !== (log?.events.length ?? 0) + 1) return 'conflict';
    const durable = this.#write(uid, log, event, durability);
    if (durability === 'committed' || this.#line.isBacklogged) await durable;
    return 'appended';
  }

  async read(uid: TaskId): Promise<CachedLog | undefined> {
    return this.peek(uid) ?? (await this.#load(uid));
  }

  /** Logs of many tasks in one look at the file; an unusable one comes as its error. */
  async readMany(uids: readonly TaskId[]): Promise<Map<TaskId, StoredLog>> {
    const found = new Map<TaskId, StoredLog>();
    const absent: TaskId[] = [];
    for (const uid of uids) {
      const log = this.#cache.get(uid);
      if (log) found.set(uid, log);
      else absent.push(uid);
    }
    if (absent.length === 0) return found;
    for (const [uid, log] of await this.#fetch(absent)) found.set(uid, log);
    return found;
  }

  /** The newest state of a log, if it is in memory. */
  peek(uid: TaskId): CachedLog | undefined {
    return this.#cache.get(uid);
  }

  async #load(uid: TaskId): Promise<CachedLog | undefined> {
    if (!this.#known.mayHave(uid)) return undefined;
    let loading = this.#loading.get(uid);
    if (loading === undefined) {
      loading = this.#fetch([uid]).then((logs) => logs.get(uid));
      this.#loading.set(uid, loading);
      const own = loading;
      const done = () => {
        if (this.#loading.get(uid) === own) this.#loading.delete(uid);
      };
      loading.then(done, done);
    }
    const log = await loading;
    if (log instanceof Error) throw log;
    return log;
  }

  /** A log that memory has got meanwhile is the newer one and stays. */
  async #fetch(uids: readonly TaskId[]): Promise<Map<TaskId, StoredLog>> {
    const { epoch } = this.#line;
    const logs = storedLogs(await this.#line.read(eventsOfLogs, named(uids)));
    if (epoch !== this.#line.epoch) return this.#fetch(uids);
    for (const [uid, log] of logs) {
      const newer = this.#cache.get(uid);
      if (newer) logs.set(uid, newer);
      else if (!(log instanceof Error)) this.#cache.put(uid, log);
    }
    return logs;
  }

  #write(
    uid: TaskId,
    log: CachedLog | undefined,
    event: TaskEvent,
    durability: Durability,
  ): Promise<void> {
    const next = transition(log?.state, event);
    if (!next.ok) throw refused(uid, event, next.reason);
    const { state } = next;
    if (state.taskId !== uid) throw misnamed(uid, state.taskId);
    const json = JSON.stringify(event);
    if (json.length > eventChars) throw tooLarge(uid, event, json.length);
    const number = log?.number ?? ++this.#lastNumber;
    const writes: Write[] = log ? [] : [['log', number, keyOfTask(uid), uid]];
    writes.push(['event', number * slotsPerLog + state.version, json]);
    writes.push(...indexWrites(number, log?.state, state));
    if (log === undefined) this.#known.add(uid);
    this.#cache.put(uid, {
      number,
      events: log ? [...log.events, event] : [event],
      state,
      chars: (log?.chars ?? 0) + json.length,
    });
    return this.#line.write(writes, json.length, {
      committed: () => {
        this.#onChange(uid, state);
      },
      isBuffered: durability === 'buffered',
    });
  }
}

const refused = (uid: TaskId, { kind }: TaskEvent, reason: string) =>
  new MeshError(
    'BAD_TRANSITION',
    `Task ${uid} does not take the event ${kind} now: ${reason}. Read it again and decide again.`,
    { taskId: uid, reason },
  );

const misnamed = (uid: TaskId, named: TaskId) =>
  new InvalidValueError(
    `The log of task ${uid} was given the submit of task ${named}. Append it under its own id.`,
    'event.task.taskId',
  );

const tooLarge = (uid: TaskId, { kind }: TaskEvent, chars: number) =>
  new MeshError(
    'PAYLOAD_INLINE',
    `The event ${kind} of task ${uid} has ${chars} characters, at most ${eventChars} fit into a log. ` +
      'Put the content into the artifact store and name it by its reference.',
    { taskId: uid },
  );
