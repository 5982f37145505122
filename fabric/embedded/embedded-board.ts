import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BoardUnavailableError, reasonOf } from '../domain/errors.ts';
import { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Journal } from '../ports/journal.ts';
import type { Log } from '../ports/log.ts';
import type { TaskBoard, TaskLog } from '../ports/task-board.ts';
import { BeatCounts } from './beat-counts.ts';
import { embeddedJournal } from './embedded-journal.ts';
import { GroupLine } from './group-line.ts';
import { checkpointWhenIdle } from './idle-checkpoint.ts';
import { keyRange } from './keys.ts';
import { KnownTasks } from './known-tasks.ts';
import { headOf, queueDepths } from './queue-head.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { TaskLogs } from './task-logs.ts';
import { searchTasks } from './task-search.ts';
import { openPort } from './thread-host.ts';

export interface EmbeddedBoardOptions {
  /** The SQLite file; it and its folder are made where they are missing (modes 0600, 0700). */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The board, with what only the embedded one has. */
export interface EmbeddedBoard extends TaskBoard {
  /** Streams, in the same file and commits. */
  readonly journal: Journal;
  /** Makes every derived row anew from the logs. Returns how many tasks there are. */
  rebuildIndex(): Promise<number>;
}

/**
 * TaskBoard and Journal on one SQLite file (`DESIGN.md` 5.1): WAL, `synchronous=FULL`, on a thread of
 * its own, in groups. Its process alone may have the file open. Beats live in memory only: no other
 * process reads this file, and after a restart a count begins anew, which observers take for a beat.
 * @throws BoardUnavailableError for a file in use, damaged, of a newer release, or out of reach
 */
export async function openEmbeddedBoard(options: EmbeddedBoardOptions): Promise<EmbeddedBoard> {
  const { path, clock, log } = options;
  await makePrivate(path);
  const { port, opened } = await openPort(path);
  const watchers = new Watchers(log);
  const beats = new BeatCounts(Math.max(0, Math.round(clock.nowMs())));
  let lost: BoardUnavailableError | undefined;
  const line = new GroupLine(port, (error, isBufferLost) => {
    logs.forget();
    if (isBufferLost) lost = error; // whoever awaited the others has been told
    log.error('board.group-failed', { reason: error.message, bufferLost: isBufferLost });
  });
  const logs: TaskLogs = new TaskLogs({
    line,
    known: new KnownTasks(opened.known, opened.logs),
    lastNumber: opened.lastNumber,
    onChange: (uid, state) => {
      if (state.claim === undefined) beats.forget(uid);
      watchers.tell(uid, state);
      checkpoint.afterWrite();
    },
  });
  const checkpoint = checkpointWhenIdle(line, clock);
  const rebuild = () => rebuildIndex(line, logs, log);
  if (opened.indexIsStale) log.warn('board.index-rebuilt', { tasks: await rebuild() });
  return {
    ...tasksOf({ line, logs, beats, log, clock }),
    watch: (onChange) => watchers.add(onChange),
    journal: embeddedJournal(line, clock),
    rebuildIndex: rebuild,
    async flush() {
      // Also what others wrote and wait for: whoever flushes may have read it and mean to act on it.
      try {
        await line.settled();
      } catch (error) {
        lost = undefined;
        throw error;
      }
      const error = lost;
      lost = undefined;
      if (error) throw error;
    },
    async close() {
      checkpoint.stop();
      await line.close();
    },
  };
}

type TaskMethods = Omit<TaskBoard, 'watch' | 'flush' | 'close'>;

interface Parts {
  readonly line: GroupLine;
  readonly logs: TaskLogs;
  readonly beats: BeatCounts;
  readonly clock: Clock;
  readonly log: Log;
}

function tasksOf({ line, logs, beats, log, clock }: Parts): TaskMethods {
  const read = async (uid: TaskId): Promise<TaskLog | undefined> => {
    const known = await logs.read(uid);
    if (known === undefined) return undefined;
    const { events, state } = known;
    return { uid, events, state, beats: beats.of(state) };
  };
  return {
    append: (uid, version, event, durability = 'committed') =>
      logs.append(uid, version, event, durability),
    read,
    known: read,
    list: (queue, nowMs, limit) => headOf(line, queue, nowMs, limit),
    async find(query) {
      const { uids, ...page } = await searchTasks(line, query);
      return { ...page, states: statesOf(uids, await logs.readMany(uids), log) };
    },
    resolve: (taskRef) => resolveRef(line, logs, taskRef),
    async beat(uid, version) {
      const state = (await logs.read(uid))?.state;
      if (state?.claim?.fence === version) beats.count(state, clock.nowMs());
    },
    // People see an embedded board through the mesh's own pages and commands, which read the logs.
    show: () => Promise.resolve(),
    depths: () => queueDepths(line),
  };
}

function statesOf(
  uids: readonly TaskId[],
  found: Awaited<ReturnType<TaskLogs['readMany']>>,
  log: Log,
): TaskState[] {
  return uids.flatMap((uid) => {
    const stored = found.get(uid);
    if (stored && !(stored instanceof Error)) return [stored.state];
    log.error('board.log-broken', { taskId: uid, reason: stored?.message ?? 'it has no event' });
    return [];
  });
}

const Prefix = /^(?:task:)?([0-9a-f]{6,32})$/;
const UidRow = z.looseObject({ uid: TaskId });

async function resolveRef(
  line: GroupLine,
  logs: TaskLogs,
  taskRef: string,
): Promise<TaskId | undefined> {
  const prefix = Prefix.exec(taskRef)?.[1];
  if (prefix === undefined) return undefined;
  const whole = TaskId.safeParse(prefix);
  if (whole.success) return (await logs.read(whole.data)) && whole.data;
  const { from, below } = keyRange(prefix);
  const rows = await line.read(
    'SELECT uid FROM logs WHERE uid_key >= ? AND uid_key < ? AND uid >= ? AND uid < ? LIMIT 2',
    from,
    below,
    prefix,
    `${prefix}g`,
  );
  return rows.length === 1 ? UidRow.parse(rows[0]).uid : undefined;
}

/** Those who want to know of changes; what one of them throws stops neither the others nor the board. */
class Watchers {
  readonly #all = new Set<(uid: TaskId, state: TaskState) => void>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  add(onChange: (uid: TaskId, state: TaskState) => void): () => void {
    const own = (uid: TaskId, state: TaskState) => {
      onChange(uid, state);
    };
    this.#all.add(own);
    return () => {
      this.#all.delete(own);
    };
  }

  tell(uid: TaskId, state: TaskState): void {
    for (const watcher of this.#all) {
      try {
        watcher(uid, state);
      } catch (error) {
        this.#log.error('board.watcher-failed', { taskId: uid, reason: reasonOf(error) });
      }
    }
  }
}

/**
 * SQLite gives its side files the mode of the main one, so that is made first. An existing file is not
 * even opened: closing any descriptor of it would drop the locks that this process holds on it.
 */
async function makePrivate(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, '', { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    });
    await chmod(path, 0o600);
  } catch (cause) {
    throw new BoardUnavailableError(
      `The board's database ${path} cannot be made: ${reasonOf(cause)}. ` +
        'Check that its folder exists and may be written.',
      { cause },
    );
  }
}
