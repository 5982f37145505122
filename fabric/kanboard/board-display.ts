import { reasonOf } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import { fold } from '../domain/fold.ts';
import type { PrincipalId, QueueId, TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { columnOf, type BoardProjects } from './board-projects.ts';
import { dueText, type BoardTasks } from './board-tasks.ts';
import { boardViewOf, ownTags } from './board-view.ts';
import type { FamilyLinks } from './family-links.ts';
import { callsPerRequest, type Call, type KanboardRpc } from './kanboard-rpc.ts';
import { BoardTask, call, Comments, resultOf, TaskTags } from './kanboard-rows.ts';
import { discreetCommentOn } from './discreet-comments.ts';
import { commentOn, markOf, toldIn } from './task-comments.ts';

export interface BoardDisplayOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly log: Log;
  readonly projects: BoardProjects;
  readonly tasks: BoardTasks;
  readonly userOf: (projectId: number, principal: PrincipalId) => Promise<number | undefined>;
  readonly links: FamilyLinks;
  /** Whether everybody who sees a queue's project may read what its tasks say; default: yes. */
  readonly showsWords?: ((queue: QueueId) => boolean) | undefined;
  /** The log as this process knows it. */
  readonly logOf: (uid: TaskId) => Promise<readonly TaskEvent[]>;
}

/** A claim and its start, or an outcome and its verdict by a program, are shown in one. */
const gatherMs = 100;
/** Between two tries while the board is away. */
const retryMs = 2_000;

/**
 * Makes board tasks show their logs: column, tags, owner, comments, open or closed. Written by the
 * event's author, in the background and once for what came together; it decides nothing and a late one
 * is harmless. What can't be written waits for the board's return.
 */
export class BoardDisplay {
  readonly #options: BoardDisplayOptions;
  /** Tasks to show, with the versions that their comments have still to tell of. */
  readonly #due = new Map<TaskId, Set<number>>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: BoardDisplayOptions) {
    this.#options = options;
  }

  /** Has `uid` shown; the comment on `version` is written with it. */
  show(uid: TaskId, version?: number): void {
    const versions = this.#due.get(uid) ?? new Set();
    if (version !== undefined) versions.add(version);
    this.#due.set(uid, versions);
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
    });
  }

  /** How many tasks are not shown as they are. */
  get pending(): number {
    return this.#due.size;
  }

  /** Resolves when everything due so far was shown, or could not be. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Lets what is under way end; the rest is left to the drift sweep of whoever comes next. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#due.size > 0) {
      await this.#options.clock.sleep(gatherMs, this.#stopping.signal);
      const due = [...this.#due];
      this.#due.clear();
      const failed = await Promise.all(due.map((one) => this.#tried(...one)));
      const again = failed.filter((one) => one !== undefined);
      for (const [uid, versions] of again) {
        const since = this.#due.get(uid) ?? [];
        this.#due.set(uid, new Set([...versions, ...since]));
      }
      if (this.#stopping.signal.aborted) return;
      if (again.length > 0) await this.#options.clock.sleep(retryMs, this.#stopping.signal);
    }
  }

  async #tried(uid: TaskId, versions: Set<number>): Promise<[TaskId, Set<number>] | undefined> {
    try {
      await this.#write(uid, versions);
      return undefined;
    } catch (error) {
      this.#options.tasks.forget(uid);
      this.#options.log.debug('board.display-late', { taskId: uid, reason: reasonOf(error) });
      return [uid, versions];
    }
  }

  async #write(uid: TaskId, versions: ReadonlySet<number>): Promise<void> {
    const { rpc, tasks, logOf } = this.#options;
    const events = await logOf(uid);
    const state = fold(events);
    if (state === undefined) return;
    const isFresh = tasks.known(uid) !== undefined;
    const row = await tasks.of(state);
    const { tags, told } = await this.#look(state, row, isFresh);
    const say = this.#options.showsWords?.(state.queue) === false ? discreetCommentOn : commentOn;
    const comments = commentsDue(events, versions, told, say);
    const calls = await this.#calls(state, row, tags, comments);
    const link = versions.has(1) ? await this.#options.links.linkOf(state, row) : undefined;
    if (link) calls.push(link);
    if (calls.length === 0) return;
    calls.push(call('getTask', { task_id: row.boardTaskId }));
    for (let from = 0; from < calls.length; from += callsPerRequest) {
      const replies = await rpc.batch(calls.slice(from, from + callsPerRequest));
      const failed = replies.find((reply) => !reply.ok);
      if (failed?.ok === false) throw new Error(failed.message);
      const last = replies.at(-1);
      const after = BoardTask.safeParse(last?.ok === true ? last.result : undefined);
      if (after.success) tasks.remember(uid, after.data, boardViewOf(state).tags);
    }
  }

  /** What has to be read first: tags unless ours are known to be right, comments after a restart or a fault. */
  async #look(state: TaskState, { boardTaskId: task_id }: BoardTask, isFresh: boolean) {
    const wanted = boardViewOf(state).tags;
    const shown = isFresh ? this.#options.tasks.tagsOf(state.taskId) : undefined;
    const tagsAreRight = shown !== undefined && isSameSet(shown, wanted);
    if (tagsAreRight) return { tags: undefined, told: new Set<number>() };
    const [tagReply, commentReply] = await this.#options.rpc.batch([
      call('getTaskTags', { task_id }),
      ...(isFresh ? [] : [call('getAllComments', { task_id })]),
    ]);
    const there = resultOf(tagReply, TaskTags, 'the tags of a task');
    const after = [...there.filter((tag) => !ownTags.has(tag)), ...wanted];
    const comments = isFresh ? [] : resultOf(commentReply, Comments, 'the comments of a task');
    return { tags: isSameSet(there, after) ? undefined : after, told: toldIn(comments) };
  }

  async #calls(
    state: TaskState,
    row: BoardTask,
    tags: readonly string[] | undefined,
    comments: readonly DueComment[],
  ): Promise<Call[]> {
    const { projects, userOf } = this.#options;
    const view = boardViewOf(state);
    const task_id = row.boardTaskId;
    const project = await projects.of(state.queue);
    const column_id = view.column === undefined ? row.columnId : columnOf(project, view.column);
    const holder = state.claim?.holder;
    const owner_id = (holder && (await userOf(project.projectId, holder))) ?? 0;
    const isElsewhere = row.projectId !== project.projectId;
    const calls: Call[] = [];
    for (const { content, author } of comments) {
      const user = author && (await userOf(project.projectId, author));
      calls.push(call('createComment', { task_id, user_id: user ?? 0, content }));
    }
    if (isElsewhere || row.columnId !== column_id || row.ownerId !== owner_id) {
      if (!row.isOpen && view.isOpen) calls.push(call('openTask', { task_id }));
      calls.push(
        call('moveTaskToProject', {
          task_id,
          project_id: project.projectId,
          ...(isElsewhere ? {} : { swimlane_id: row.swimlaneId }),
          column_id,
          owner_id,
        }),
      );
    } else if (!row.isOpen && view.isOpen) calls.push(call('openTask', { task_id }));
    // After a move: tags are a project's.
    if (tags) calls.push(call('setTaskTags', { project_id: project.projectId, task_id, tags }));
    const fields = fieldsOf(state, row);
    // A move does not touch the date of modification, by which other hosts see that something is new.
    if (calls.length > 0 || Object.keys(fields).length > 0) {
      calls.push(call('updateTask', { id: task_id, ...fields }));
    }
    const mustClose = !view.isOpen && (row.isOpen || calls.some(isMove));
    if (mustClose) calls.push(call('closeTask', { task_id }));
    return calls;
  }
}

const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((tag) => other.includes(tag));

const isMove = ({ method }: Call): boolean => method === 'moveTaskToProject';

function fieldsOf(state: TaskState, row: BoardTask): Record<string, unknown> {
  const dueAtMs = Math.floor((state.deadlineAtMs ?? 0) / 60_000) * 60_000;
  return {
    ...(row.priority === state.priority ? {} : { priority: state.priority }),
    ...(row.score === state.score ? {} : { score: state.score }),
    ...(row.dueAtMs === dueAtMs ? {} : { date_due: dueAtMs === 0 ? '' : dueText(dueAtMs) }),
  };
}

interface DueComment {
  readonly content: string;
  /** The agent whose doing it tells of. A person's own name stands only on what they wrote themselves. */
  readonly author: PrincipalId | undefined;
}

function commentsDue(
  events: readonly TaskEvent[],
  versions: ReadonlySet<number>,
  told: ReadonlySet<number>,
  say: typeof commentOn,
): DueComment[] {
  let state: TaskState | undefined;
  const comments: DueComment[] = [];
  for (const [at, event] of events.entries()) {
    const before = state;
    state = fold([event], before);
    const version = at + 1;
    if (state === undefined || !versions.has(version) || told.has(version)) continue;
    const text = say(before, event, state);
    if (text === undefined) continue;
    const author = event.by.role === 'agent' ? event.by.id : undefined;
    comments.push({ content: `${text}\n\n${markOf(version)}`, author });
  }
  return comments;
}
