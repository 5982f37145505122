import { z } from 'zod';
import { MeshError, reasonOf } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { columnOf, roleOf, type BoardProject } from '../kanboard/board-projects.ts';
import type { SeenRow } from '../kanboard/board-poll.ts';
import { uidOf } from '../kanboard/board-tasks.ts';
import { boardViewOf } from '../kanboard/board-view.ts';
import type { KanboardBoard } from '../kanboard/kanboard-board.ts';
import { BoardTask, call, resultOf } from '../kanboard/kanboard-rows.ts';
import type { QueueDeps } from '../queue/deps.ts';
import { ActTaker } from './act-taker.ts';
import { SaidOnce } from './said-once.ts';

export interface WatchPeopleOptions {
  readonly board: KanboardBoard;
  /** Its `board` is `board`. */
  readonly queue: QueueDeps;
  /** Which mesh's, as the board was opened with. */
  readonly boardId: string;
}

const tooMuch =
  'More was done on this board at once than the mesh can read, so it does not know who did this. It stands ' +
  'as its log says. Please do it again.';

/**
 * Turns what people do in the projects of queues into events of their tasks, as those people (`DESIGN.md`
 * 5.2). Every process of a mesh may do it at the same time. Ends with the returned function, which waits for
 * what is under way.
 */
export function watchPeople({ board, queue, boardId }: WatchPeopleOptions): () => Promise<void> {
  const { rpc, activity, poll } = board.parts;
  const said = new SaidOnce({ rpc, clock: queue.clock, boardId, token: queue.random.hex(8) });
  const taker = new ActTaker({ board, queue, boardId, said });
  const missed = (project: BoardProject) =>
    showWhatStands(board, said, queue.clock.nowMs(), project);
  const mender = new Mender(board, queue, taker);
  const stops = [
    activity.onAct((act) => taker.take(act), missed),
    poll.onRows((rows) => mender.look(rows)),
  ];
  return async () => {
    for (const stop of stops) stop();
    await activity.settled();
    await mender.settled();
  };
}

/** Ends adoptions that a process began and did not live to end. */
class Mender {
  readonly #board: KanboardBoard;
  readonly #queue: QueueDeps;
  readonly #taker: ActTaker;
  /** By number of the board task. */
  readonly #due = new Map<number, SeenRow>();
  /** Those that were reported once. */
  readonly #late = new Set<number>();
  #running: Promise<void> | undefined;

  constructor(board: KanboardBoard, queue: QueueDeps, taker: ActTaker) {
    this.#board = board;
    this.#queue = queue;
    this.#taker = taker;
  }

  async look(rows: readonly SeenRow[]): Promise<void> {
    for (const seen of rows) {
      const { row, project, uid } = seen;
      const isInReady = project.layout === 'queue' && roleOf(project, row.columnId) === 'ready';
      if (!uid || !isInReady || !row.isOpen) continue;
      if ((await this.#board.known(uid)) === undefined) {
        this.#due.set(row.boardTaskId, seen);
      }
    }
    // Not waited for: it reads the board, which may be waiting for this very look.
    this.#running ??= this.#mend().finally(() => {
      this.#running = undefined;
    });
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #mend(): Promise<void> {
    for (const [boardTaskId, seen] of this.#due) {
      try {
        await this.#taker.mend(seen);
        this.#due.delete(boardTaskId);
      } catch (error) {
        // A refusal stays one; what the board could not do is tried again with the next look.
        if (error instanceof MeshError && error.code !== 'FABRIC_DOWN') {
          this.#due.delete(boardTaskId);
        }
        if (this.#late.has(boardTaskId)) continue;
        this.#late.add(boardTaskId);
        const fields = { boardTaskId: String(boardTaskId), reason: reasonOf(error) };
        this.#queue.log.warn('board.adoption-late', fields);
      }
    }
  }
}

const dayMs = 24 * 60 * 60_000;

/**
 * Where acts could not be read, the board tasks tell what was done, but not by whom: nothing is taken from
 * that. Each is put back to where its log has it, with a word to whoever did it.
 */
async function showWhatStands(
  board: KanboardBoard,
  said: SaidOnce,
  nowMs: number,
  project: BoardProject,
): Promise<void> {
  if (project.layout !== 'queue') return;
  const { parts } = board;
  const since = new Date(nowMs - dayMs).toISOString().slice(0, 10);
  const query = { project_id: project.projectId, query: `modified:">=${since}"` };
  const [reply] = await parts.rpc.batch([call('searchTasks', query)]);
  for (const row of resultOf(reply, z.array(BoardTask), 'the board tasks of a project')) {
    const uid = uidOf(row.reference);
    if (uid !== undefined) {
      const state = await movedFrom(board, project, row, uid);
      if (state === undefined) continue;
      parts.tasks.remember(uid, row);
      await said.say(row.boardTaskId, { key: `missed v${state.version}`, atMs: nowMs }, tooMuch);
      parts.display.show(uid);
    } else if (row.reference === '' && row.isOpen && roleOf(project, row.columnId) === 'ready') {
      await said.say(row.boardTaskId, { key: 'missed', atMs: nowMs }, tooMuch);
    }
  }
}

/** Where the log has the task that this row shows elsewhere; undefined where both agree, or the row is yet to follow. */
async function movedFrom(
  board: KanboardBoard,
  project: BoardProject,
  row: BoardTask,
  uid: TaskId,
): Promise<TaskState | undefined> {
  const known = (await board.known(uid))?.state;
  if (known === undefined || isShown(project, row, known)) return undefined;
  // What this process knows may be behind, and so may what whoever wrote an event shows.
  const log = await board.read(uid);
  const lastAtMs = log?.events.at(-1)?.atMs ?? Infinity;
  // The board dates to the second: what falls into that of the log's last event counts as after it.
  const isNewer = row.modifiedAtMs + 1_000 > lastAtMs;
  return log && isNewer && !isShown(project, row, log.state) ? log.state : undefined;
}

function isShown(project: BoardProject, row: BoardTask, state: TaskState): boolean {
  const { column, isOpen } = boardViewOf(state);
  const stands = column === undefined || row.columnId === columnOf(project, column);
  return stands && row.isOpen === isOpen;
}
