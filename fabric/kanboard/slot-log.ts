import { BoardUnavailableError } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import { BrokenLogError, fold } from '../domain/fold.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Appended } from '../ports/task-board.ts';
import {
  eventOfRecord,
  logOfRecord,
  recordOf,
  recordOfLog,
  type EventRecord,
} from './event-record.ts';
import { callsPerRequest, type KanboardRpc, type Reply } from './kanboard-rpc.ts';
import { call, MadeId, resultOf, TagRows } from './kanboard-rows.ts';
import { NoAnswerError } from './no-answer.ts';
import type { RecordFiles } from './record-files.ts';
import { compactSlot, readSlot, slotOfLog, slotOfRecord } from './slot-content.ts';
import {
  namespaceOf,
  readNamespace,
  recordRows,
  slotName,
  type Namespace,
} from './slot-namespace.ts';

/** A record of more rows goes into a file of the board task; each row is read with every append. */
const mostRows = 24;
/** One request may be lost, its repeat too; past that the caller reads before anything else. */
const mostTries = 3;

/** What an append gave, and every slot of the log as the board had them after it. */
export interface SlotAnswer {
  readonly appended: Appended;
  readonly namespace?: Namespace;
}

export interface SlotLogOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: RecordFiles;
}

/**
 * Task logs as tags of Kanboard (`DESIGN.md` 5.2): `UNIQUE(project_id, name)` lets one caller into a
 * slot, whatever is lost, late or doubled on the way. Nothing is ever changed or taken out.
 */
export class SlotLog {
  readonly #rpc: KanboardRpc;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #files: RecordFiles;

  constructor({ rpc, clock, random, files }: SlotLogOptions) {
    this.#rpc = rpc;
    this.#clock = clock;
    this.#random = random;
    this.#files = files;
  }

  /**
   * Puts `event` into slot `version`; `before` is the state that the versions below it add up to. The
   * listing after it decides, never what `createTag` answered.
   * @throws BoardUnavailableError when the slot was certainly not written
   */
  async append(
    uid: TaskId,
    version: number,
    event: TaskEvent,
    before: TaskState | undefined,
  ): Promise<SlotAnswer> {
    const compact = compactSlot(before, event);
    if (compact !== undefined) return this.#take(uid, version, compact);
    const record = recordOf(event);
    await this.#store(uid, record, before);
    return this.#take(uid, version, slotOfRecord(record.token));
  }

  /**
   * Puts a whole log into the first slot, as one: a log that appeared event by event would look, on the
   * way, like a task that anybody may take.
   * @throws BoardUnavailableError when the slot was certainly not written
   */
  async appendLog(uid: TaskId, events: readonly TaskEvent[]): Promise<SlotAnswer> {
    const record = recordOfLog(events);
    await this.#store(uid, record, undefined);
    return this.#take(uid, 1, slotOfLog(record.token));
  }

  async list(uid: TaskId): Promise<Namespace> {
    const [namespace] = await this.listMany([uid]);
    if (namespace === undefined) throw new Error('one listing was asked for');
    return namespace;
  }

  /** The slots and records of many tasks, in as few requests as batches allow. */
  async listMany(uids: readonly TaskId[]): Promise<readonly Namespace[]> {
    const found: Namespace[] = [];
    for (let from = 0; from < uids.length; from += callsPerRequest) {
      const some = uids.slice(from, from + callsPerRequest);
      const replies = await this.#rpc.batch(some.map((uid) => listing(uid)));
      for (const [at, uid] of some.entries()) found.push(namespaceFrom(uid, replies[at]));
    }
    return found;
  }

  /**
   * The events after `from` (the state of the versions known so far), in order, up to the first slot
   * that is missing.
   * @throws BrokenLogError for a slot whose record is missing or not the one it names: a person looks
   */
  async eventsAfter(
    uid: TaskId,
    namespace: Namespace,
    from: TaskState | undefined,
  ): Promise<readonly TaskEvent[]> {
    const events: TaskEvent[] = [];
    let state = from;
    for (;;) {
      const version = (state?.version ?? 0) + 1;
      const content = namespace.slots.get(version);
      if (content === undefined) return events;
      const some = await this.#eventsIn(uid, version, content, namespace, state);
      state = fold(some, state);
      events.push(...some);
    }
  }

  /** Those of one slot: a single one, but for a first slot that holds a whole log. */
  async #eventsIn(
    uid: TaskId,
    version: number,
    content: string,
    { records }: Namespace,
    before: TaskState | undefined,
  ): Promise<readonly TaskEvent[]> {
    const slot = readSlot(before, content);
    if (slot === undefined) throw new BrokenLogError(version, 'its slot holds nothing of ours');
    if (slot.kind === 'event') return [slot.event];
    const { token } = slot;
    const text = records.get(token) ?? (before && (await this.#files.load(before, token)));
    if (text === undefined) throw brokenRecord(uid, version, 'is missing');
    const record = { token, text };
    if (slot.kind === 'log' && version === 1) {
      return logOfRecord(record) ?? throwing(brokenRecord(uid, version, 'was changed'));
    }
    return [eventOfRecord(record) ?? throwing(brokenRecord(uid, version, 'was changed'))];
  }

  /** Stored and seen to be there before any slot names it: a batch goes on after a failed call. */
  async #store(uid: TaskId, record: EventRecord, before: TaskState | undefined): Promise<void> {
    const rows = recordRows(uid, record.token, record.text);
    if (rows.length > mostRows && before) return this.#files.store(before, record);
    for (let tries = 1; ; tries++) {
      try {
        if (await this.#storeRows(uid, rows, record)) return;
      } catch (error) {
        if (!(error instanceof NoAnswerError && error.mayBeDone) || tries === mostTries)
          throw error;
      }
      if (tries === mostTries) throw notStored(uid);
      await this.#pause(tries);
    }
  }

  /** A row that was made now is there; one that was there before is looked at, and so is a refused one. */
  async #storeRows(uid: TaskId, rows: readonly string[], record: EventRecord): Promise<boolean> {
    const project_id = namespaceOf(uid);
    const storing = rows.map((tag) => call('createTag', { project_id, tag, color_id: 'r' }));
    const replies: Reply[] = [];
    for (let from = 0; from < storing.length; from += callsPerRequest) {
      replies.push(...(await this.#rpc.batch(storing.slice(from, from + callsPerRequest))));
    }
    if (replies.every(isMade)) return true;
    return (await this.list(uid)).records.get(record.token) === record.text;
  }

  async #take(uid: TaskId, version: number, content: string): Promise<SlotAnswer> {
    const project_id = namespaceOf(uid);
    const taking = call('createTag', {
      project_id,
      tag: slotName(uid, version),
      color_id: content,
    });
    let mayBeThere = false;
    for (let tries = 1; tries <= mostTries; tries++) {
      try {
        const replies = await this.#rpc.batch([taking, listing(uid)]);
        const namespace = namespaceFrom(uid, replies[1]);
        const there = namespace.slots.get(version);
        if (there !== undefined) {
          return { appended: there === content ? 'appended' : 'conflict', namespace };
        }
      } catch (error) {
        const isSettled = error instanceof NoAnswerError && !error.mayBeDone;
        if (isSettled && !mayBeThere) throw error;
        mayBeThere ||= !isSettled;
      }
      await this.#pause(tries);
    }
    return { appended: 'unknown' };
  }

  #pause(tries: number): Promise<void> {
    return this.#clock.sleep(50 * tries * (0.5 + this.#random.fraction()));
  }
}

const isMade = (reply: Reply): boolean =>
  reply.ok && MadeId.safeParse(reply.result).data !== undefined;

const brokenRecord = (uid: TaskId, version: number, what: string) =>
  new BrokenLogError(version, `its record ${what} (task ${uid})`);

function throwing(error: Error): never {
  throw error;
}

const listing = (uid: TaskId) => call('getTagsByProject', { project_id: namespaceOf(uid) });

const namespaceFrom = (uid: TaskId, reply: Reply | undefined): Namespace =>
  readNamespace(uid, resultOf(reply, TagRows, 'the list of slots'));

const notStored = (uid: TaskId) =>
  new BoardUnavailableError(
    `Kanboard did not keep what belongs to an event of task ${uid}. Nothing was decided; try again.`,
  );
