import { z } from 'zod';
import { BoardUnavailableError } from '../domain/errors.ts';
import { TaskId, type PrincipalId, type QueueId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { columnOf, type BoardProject, type BoardProjects } from './board-projects.ts';
import { boardViewOf } from './board-view.ts';
import type { KanboardRpc, Reply } from './kanboard-rpc.ts';
import { BoardTask, call, MadeId, resultOf } from './kanboard-rows.ts';
import { discreetText, shownText } from './shown-text.ts';

/** The reference of a task's own board task. */
export const referenceOf = (uid: TaskId): string => `mesh:${uid}`;

/** The task that a board task's reference names; undefined for what is not ours. */
export const uidOf = (reference: string): TaskId | undefined =>
  TaskId.safeParse(/^mesh:([0-9a-f]{32})$/.exec(reference)?.[1]).data;

export interface BoardTasksOptions {
  readonly rpc: KanboardRpc;
  readonly projects: BoardProjects;
  /** The Kanboard user of a principal in a project, where there is one who may be named there. */
  readonly userOf: (projectId: number, principal: PrincipalId) => Promise<number | undefined>;
  /** Whether everybody who sees a queue's project may read what its tasks say; default: yes. */
  readonly showsWords?: ((queue: QueueId) => boolean) | undefined;
}

/** Which board task shows which task, and how it was last seen. */
export class BoardTasks {
  readonly #options: BoardTasksOptions;
  readonly #rows = new Map<TaskId, BoardTask>();
  readonly #tags = new Map<TaskId, readonly string[]>();
  readonly #making = new Map<TaskId, Promise<BoardTask>>();

  constructor(options: BoardTasksOptions) {
    this.#options = options;
  }

  /** As last seen by this process. */
  known(uid: TaskId): BoardTask | undefined {
    return this.#rows.get(uid);
  }

  /** The task that a board task showed when this process last saw it, whatever its reference says now. */
  shownBy({ boardTaskId }: BoardTask): TaskId | undefined {
    for (const [uid, row] of this.#rows) if (row.boardTaskId === boardTaskId) return uid;
    return undefined;
  }

  /** Our own tags on it, as far as they are known. */
  tagsOf(uid: TaskId): readonly string[] | undefined {
    return this.#tags.get(uid);
  }

  /** Of twins, which a doubled or repeated request may make, the elder one shows the task. */
  remember(uid: TaskId, row: BoardTask, tags?: readonly string[]): void {
    if (this.isTwin(uid, row)) return;
    this.#rows.set(uid, row);
    if (tags) this.#tags.set(uid, tags);
  }

  /** Whether another board task, an elder one, was seen to show `uid`. */
  isTwin(uid: TaskId, { boardTaskId }: BoardTask): boolean {
    const known = this.#rows.get(uid);
    return known !== undefined && known.boardTaskId < boardTaskId;
  }

  forget(uid: TaskId): void {
    this.#rows.delete(uid);
    this.#tags.delete(uid);
  }

  /** The task that a board task shows; undefined for what is not ours. */
  async find(boardTaskId: number): Promise<TaskId | undefined> {
    const [reply] = await this.#options.rpc.batch([call('getTask', { task_id: boardTaskId })]);
    const row = resultOf(reply, BoardTask.nullable(), 'a board task');
    const uid = row ? uidOf(row.reference) : undefined;
    if (row && uid) this.remember(uid, row);
    return uid;
  }

  /** The board task as it is now; undefined when a person took it away. */
  async refresh(state: TaskState): Promise<BoardTask | undefined> {
    const { taskId } = state;
    const known = this.#rows.get(taskId);
    if (known === undefined) {
      const [reply] = await this.#options.rpc.batch([await this.#lookup(state)]);
      const found = eldest(reply, taskId);
      if (found) this.#rows.set(taskId, found);
      return found;
    }
    const look = call('getTask', { task_id: known.boardTaskId });
    const [reply] = await this.#options.rpc.batch([look]);
    const row = resultOf(reply, BoardTask.nullable(), 'a board task');
    if (row?.reference !== referenceOf(taskId)) {
      this.forget(taskId);
      // Its number may have been given to another one; it is looked for by its reference once more.
      return this.refresh(state);
    }
    this.#rows.set(taskId, row);
    return row;
  }

  /** The board task of `state`, made where there is none. */
  async of(state: TaskState): Promise<BoardTask> {
    const known = this.#rows.get(state.taskId);
    if (known) return known;
    const making = this.#making.get(state.taskId) ?? this.#findOrMake(state);
    this.#making.set(state.taskId, making);
    try {
      return await making;
    } finally {
      this.#making.delete(state.taskId);
    }
  }

  /**
   * Makes the board task without looking for one: only for the winner of slot 1, who alone may make it.
   * After an unclear answer it is looked up first (`reference/kanboard.md` 1.6).
   */
  async make(state: TaskState): Promise<BoardTask> {
    const making = this.#create(state).catch(() => this.#findOrMake(state));
    this.#making.set(state.taskId, making);
    try {
      return await making;
    } finally {
      this.#making.delete(state.taskId);
    }
  }

  async #findOrMake(state: TaskState): Promise<BoardTask> {
    return (await this.refresh(state)) ?? this.#create(state);
  }

  async #lookup(state: TaskState) {
    const { projectId } = await this.#options.projects.of(state.queue);
    // `getTaskByReference` gives any one of several.
    const query = `reference:${referenceOf(state.taskId)} status:all`;
    return call('searchTasks', { project_id: projectId, query });
  }

  async #create(state: TaskState): Promise<BoardTask> {
    const project = await this.#options.projects.of(state.queue);
    const [made, looked] = await this.#options.rpc.batch([
      call('createTask', await this.#fieldsOf(project, state)),
      await this.#lookup(state),
    ]);
    const isMade = made?.ok === true && MadeId.safeParse(made.result).data !== undefined;
    const row = eldest(looked, state.taskId);
    if (row === undefined) {
      const why = made && !made.ok ? made.message : 'it answered false';
      throw new BoardUnavailableError(
        `Kanboard made no board task for task ${state.taskId}: ${isMade ? 'it is not there' : why}.`,
      );
    }
    this.remember(state.taskId, row, isMade ? boardViewOf(state).tags : undefined);
    return row;
  }

  async #fieldsOf(project: BoardProject, state: TaskState) {
    const { projectId } = project;
    const { submitter } = state.task.provenance;
    const creator = await this.#options.userOf(projectId, submitter);
    const { column = 'waiting', tags } = boardViewOf(state);
    return {
      project_id: projectId,
      column_id: columnOf(project, column),
      reference: referenceOf(state.taskId),
      ...(this.#options.showsWords?.(state.queue) === false
        ? discreetText(state.task)
        : shownText(state.task)),
      priority: state.priority,
      score: state.score,
      ...(creator === undefined ? {} : { creator_id: creator }),
      ...(state.deadlineAtMs === undefined ? {} : { date_due: dueText(state.deadlineAtMs) }),
      ...(tags.length > 0 ? { tags } : {}),
    };
  }
}

/** Of all board tasks that a search found, the first one that was made for `uid`; others only look like it. */
function eldest(reply: Reply | undefined, uid: TaskId): BoardTask | undefined {
  const rows = resultOf(reply, z.array(BoardTask), 'the board task of a task');
  const own = rows.filter(({ reference }) => reference === referenceOf(uid));
  return own.reduce<BoardTask | undefined>(
    (first, row) => (first && first.boardTaskId < row.boardTaskId ? first : row),
    undefined,
  );
}

/** `Y-m-d H:i` in UTC, the zone of the board: others are refused or filled up with the time of day. */
export const dueText = (atMs: number): string =>
  new Date(Math.floor(atMs / 60_000) * 60_000).toISOString().slice(0, 16).replace('T', ' ');
