import { BoardUnavailableError } from '../domain/errors.ts';
import { TaskId, type PrincipalId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { columnOf, type BoardProject, type BoardProjects } from './board-projects.ts';
import { boardViewOf } from './board-view.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import { BoardTask, call, MadeId, resultOf } from './kanboard-rows.ts';
import { shownText } from './shown-text.ts';

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

  remember(uid: TaskId, row: BoardTask, tags?: readonly string[]): void {
    this.#rows.set(uid, row);
    if (tags) this.#tags.set(uid, tags);
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
    const known = this.#rows.get(state.taskId);
    const looks = known
      ? call('getTask', { task_id: known.boardTaskId })
      : await this.#lookup(state);
    const [reply] = await this.#options.rpc.batch([looks]);
    const row = resultOf(reply, BoardTask.nullable(), 'a board task');
    if (row?.reference !== referenceOf(state.taskId)) {
      this.forget(state.taskId);
      // Its number may have been given to another one; it is looked for by its reference once more.
      return known ? this.refresh(state) : undefined;
    }
    this.#rows.set(state.taskId, row);
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
    const reference = referenceOf(state.taskId);
    return call('getTaskByReference', { project_id: projectId, reference });
  }

  async #create(state: TaskState): Promise<BoardTask> {
    const project = await this.#options.projects.of(state.queue);
    const [made, looked] = await this.#options.rpc.batch([
      call('createTask', await this.#fieldsOf(project, state)),
      await this.#lookup(state),
    ]);
    const isMade = made?.ok === true && MadeId.safeParse(made.result).data !== undefined;
    const row = resultOf(looked, BoardTask.nullable(), 'a new board task');
    if (row === null) {
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
      ...shownText(state.task),
      priority: state.priority,
      score: state.score,
      ...(creator === undefined ? {} : { creator_id: creator }),
      ...(state.deadlineAtMs === undefined ? {} : { date_due: dueText(state.deadlineAtMs) }),
      ...(tags.length > 0 ? { tags } : {}),
    };
  }
}

/** `Y-m-d H:i` in UTC, the zone of the board: others are refused or filled up with the time of day. */
export const dueText = (atMs: number): string =>
  new Date(Math.floor(atMs / 60_000) * 60_000).toISOString().slice(0, 16).replace('T', ' ');
