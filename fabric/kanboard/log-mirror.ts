import { BoardUnavailableError } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import { fold } from '../domain/fold.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Log } from '../ports/log.ts';
import type { Appended, Durability, TaskBoard, TaskLog } from '../ports/task-board.ts';
import type { Namespace } from './slot-namespace.ts';
import type { SlotLog } from './slot-log.ts';

export interface LogMirrorOptions {
  readonly slots: SlotLog;
  readonly mirror: TaskBoard;
  readonly log: Log;
}

/** The receipt by which a sync task's log says that the board has it; from it on the board decides. */
export const projectedKey = 'board';

/**
 * Logs on Kanboard, mirrored where they can be searched. A slot never changes, so what was once read needs
 * no second reading; the board is asked for what came after it. Work that is awaited on a line is local:
 * the mirror alone has it, so that a board that is down stops nothing, until it is projected.
 */
export class LogMirror {
  readonly #slots: SlotLog;
  readonly #mirror: TaskBoard;
  readonly #log: Log;
  /** Sync tasks that this process knows to be on the board. */
  readonly #moved = new Set<TaskId>();

  constructor({ slots, mirror, log }: LogMirrorOptions) {
    this.#slots = slots;
    this.#mirror = mirror;
    this.#log = log;
  }

  isLocal({ task, receipts }: TaskState): boolean {
    return task.mode === 'sync' && receipts[projectedKey] === undefined;
  }

  /** On its way from its home to the board, as far as this process knows. */
  isMoving({ taskId, task, receipts }: TaskState): boolean {
    return task.mode === 'sync' && receipts[projectedKey] !== undefined && !this.#moved.has(taskId);
  }

  /**
   * Puts a log that only its home has on the board, whole and at once; a second try changes nothing.
   * Undefined: the board has another task under that id, and keeps it.
   * @throws BoardUnavailableError when the board gave no clear answer; try again
   */
  async copyToBoard(uid: TaskId): Promise<TaskLog | undefined> {
    const known = await this.#mirror.read(uid);
    if (known === undefined) return undefined;
    if (!(await this.#isThere(known))) {
      const { appended } = await this.#slots.appendLog(uid, movedPart(known.events));
      if (appended === 'unknown') throw unsettled(uid);
      if (appended === 'conflict' && !(await this.#isThere(known))) {
        this.#log.error('board.copy-conflict', { taskId: uid });
        return undefined;
      }
    }
    this.#moved.add(uid);
    return known;
  }

  /** By its first event, not by its record: the same events, once read back, may make another text. */
  async #isThere({ uid, events }: TaskLog): Promise<boolean> {
    const [first] = await this.#slots.eventsAfter(uid, await this.#slots.list(uid), undefined);
    return first !== undefined && events[0] !== undefined && isSame(first, events[0]);
  }

  /** To the mirror where only this home has the task, else to its slot on the board. */
  async append(
    uid: TaskId,
    version: number,
    event: TaskEvent,
    durability: Durability = 'committed',
  ): Promise<{ readonly appended: Appended; readonly isLocal: boolean }> {
    const known = await this.#mirror.read(uid);
    const isLocal = known ? this.isLocal(known.state) : isOfSync(event);
    if (isLocal) {
      return { isLocal, appended: await this.#mirror.append(uid, version, event, durability) };
    }
    const isStuck = known && this.isMoving(known.state) && !(await this.copyToBoard(uid));
    // The board has another task under this id: nothing of ours may follow its events.
    if (isStuck) return { isLocal, appended: 'conflict' };
    const there = known?.events[version - 1];
    if (there) return { isLocal, appended: isSame(there, event) ? 'appended' : 'conflict' };
    const before = await this.#stateBefore(uid, version, known);
    if (before === 'gap') return { isLocal, appended: 'conflict' };
    const { appended, namespace } = await this.#slots.append(uid, version, event, before);
    // Not after an unclear answer: what is there is only known once it was read.
    if (namespace) await this.take(uid, namespace);
    return { isLocal, appended };
  }

  /** The log as the board has it now; undefined: the board has none. */
  async refresh(uid: TaskId): Promise<TaskLog | undefined> {
    await this.take(uid, await this.#slots.list(uid));
    return this.#mirror.read(uid);
  }

  /** As `refresh`, for many; a log that can't be used is reported and left out. */
  async refreshMany(uids: readonly TaskId[]): Promise<void> {
    const namespaces = await this.#slots.listMany(uids);
    for (const [at, uid] of uids.entries()) {
      const namespace = namespaces[at];
      if (namespace === undefined) continue;
      try {
        await this.take(uid, namespace);
      } catch (error) {
        if (error instanceof BoardUnavailableError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.#log.error('board.log-broken', { taskId: uid, reason });
      }
    }
  }

  /** The state below `version`; undefined before the first one. */
  async #stateBefore(
    uid: TaskId,
    version: number,
    known: TaskLog | undefined,
  ): Promise<TaskState | undefined | 'gap'> {
    if (version === 1) return undefined;
    if (known && known.state.version >= version - 1) {
      return known.state.version === version - 1
        ? known.state
        : fold(known.events.slice(0, version - 1));
    }
    const fresh = await this.refresh(uid);
    const state = fresh && fold(fresh.events.slice(0, version - 1));
    return state?.version === version - 1 ? state : 'gap';
  }

  /** Copies into the mirror what the board has more. */
  async take(uid: TaskId, namespace: Namespace): Promise<void> {
    const known = await this.#mirror.read(uid);
    if (!namespace.slots.has((known?.state.version ?? 0) + 1)) return;
    const events = await this.#slots.eventsAfter(uid, namespace, known?.state);
    let version = known?.state.version ?? 0;
    for (const event of events) {
      version += 1;
      // Another look of this process may have copied it meanwhile: the same event, then.
      await this.#mirror.append(uid, version, event, 'buffered');
    }
    if (events.length > 0) this.#moved.add(uid);
  }
}

/** Up to the receipt that says it moves: what came after it was appended on the board. */
function movedPart(events: readonly TaskEvent[]): readonly TaskEvent[] {
  const last = events.findIndex(
    (event) => event.kind === 'receipted' && event.key === projectedKey,
  );
  return last < 0 ? events : events.slice(0, last + 1);
}

const unsettled = (uid: TaskId) =>
  new BoardUnavailableError(
    `The board gave no clear answer while task ${uid} was brought to it. It is tried again.`,
  );

const isOfSync = (event: TaskEvent): boolean =>
  event.kind === 'submitted' && event.task.mode === 'sync';

/** By one writer: two processes that take one act in give their events the same token. */
const isSame = (one: TaskEvent, other: TaskEvent): boolean =>
  one.token === other.token && one.kind === other.kind && one.atMs === other.atMs;
