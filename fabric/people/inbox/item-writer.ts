import { z } from 'zod';
import { BoardUnavailableError } from '../../domain/errors.ts';
import type { TaskState } from '../../domain/state.ts';
import type { QueueDeps } from '../../queue/deps.ts';
import { columnOf, type BoardProject } from '../../kanboard/board-projects.ts';
import { dueText } from '../../kanboard/board-tasks.ts';
import type { KanboardBoard } from '../../kanboard/kanboard-board.ts';
import type { Call, Reply } from '../../kanboard/kanboard-rpc.ts';
import { BoardTask, call, MadeId, resultOf } from '../../kanboard/kanboard-rows.ts';
import type { SaidOnce } from '../said-once.ts';
import { Reservations } from '../../kanboard/reservations.ts';
import { inboxItemsOf, inboxOwnerOf, itemReference, type InboxItem } from './inbox-items.ts';
import { InboxMembers } from './inbox-members.ts';
import { itemKey, type InboxRows, type ItemRow } from './inbox-rows.ts';
import { endedText } from './inbox-text.ts';
import { columnOfAnswer } from '../../kanboard/yes-or-no.ts';

export interface ItemWriterOptions {
  readonly board: KanboardBoard;
  readonly queue: QueueDeps;
  readonly rows: InboxRows;
  readonly said: SaidOnce;
}

/** What the comment on an item that was put away ends with, by which it is found again. */
export const endedKey = 'ended';

/** Makes, puts back and puts away the board tasks of people's items, each once whoever else is at it. */
export class ItemWriter {
  readonly #options: ItemWriterOptions;
  readonly #reservations: Reservations;
  readonly #members: InboxMembers;
  /** Kanboard's number of the relation `blocks`. */
  #blocks: number | undefined;

  constructor(options: ItemWriterOptions) {
    this.#options = options;
    const { clock, random, log } = options.queue;
    const { rpc } = options.board.parts;
    this.#reservations = new Reservations({ rpc, clock, random });
    this.#members = new InboxMembers({ rpc, clock, log });
  }

  /** Lets an inbox's person in; their Kanboard user, where they have one. */
  async admit(project: BoardProject): Promise<number | undefined> {
    const human = inboxOwnerOf(this.#options.queue.directory, project.queue);
    return human && this.#members.admit(project, human);
  }

  /**
   * Makes the item where there is none; gives it as it is there, also closed. Undefined: another process is
   * at it, or the task has gone on, and the next look knows more.
   */
  async make(item: InboxItem, state: TaskState): Promise<ItemRow | undefined> {
    const { board, rows } = this.#options;
    const project = await board.parts.projects.of(item.queue);
    if (project.layout !== 'inbox') return undefined;
    const looking = lookup(project, item);
    const what = `ask-${item.key}-${item.queue}`;
    const taken = await this.#reservations.take(item.uid, what, [looking]);
    if (taken.log.slots.has(state.version + 1)) return undefined;
    const there = rowIn(taken.also[0]);
    if (there === null && !taken.isOurs) return undefined;
    const row = there ?? (await this.#create(project, item));
    const made = { uid: item.uid, key: item.key, project, row };
    if (row.isOpen) rows.remember(made);
    if (taken.isOurs) await this.#link(row, state);
    return made;
  }

  async #create(project: BoardProject, item: InboxItem): Promise<BoardTask> {
    const userId = await this.admit(project);
    const [made, looked] = await this.#batch([
      call('createTask', {
        project_id: project.projectId,
        column_id: columnOf(project, 'ready'),
        reference: itemReference(item),
        title: item.title,
        description: item.description,
        ...(userId === undefined ? {} : { owner_id: userId }),
        ...(item.dueAtMs === undefined ? {} : { date_due: dueText(item.dueAtMs) }),
        ...(item.urgent ? { tags: ['urgent'] } : {}),
      }),
      lookup(project, item),
    ]);
    const row = rowIn(looked);
    if (row !== null) return row;
    // Its person may have left the project, and then can't be its owner.
    this.#members.forget(project);
    const isMade = made?.ok === true && MadeId.safeParse(made.result).data !== undefined;
    const why =
      made?.ok === false ? made.message : isMade ? 'it is not there' : 'it answered false';
    throw new BoardUnavailableError(`Kanboard made no item in the inbox ${item.queue}: ${why}.`);
  }

  /** Each shows the other; only where the blocked one shows its title to whoever sees it, as the item does. */
  async #link({ boardTaskId }: BoardTask, state: TaskState): Promise<void> {
    const { tasks, logs } = this.#options.board.parts;
    if (logs.isLocal(state)) return;
    const blocked = tasks.known(state.taskId) ?? (await tasks.refresh(state));
    if (blocked?.title !== state.task.intent.title.toWellFormed()) return;
    const link_id = await this.#blocksId();
    if (link_id === undefined) return;
    const opposite_task_id = blocked.boardTaskId;
    await this.#batch([
      call('createTaskLink', { task_id: boardTaskId, opposite_task_id, link_id }),
    ]);
  }

  async #blocksId(): Promise<number | undefined> {
    if (this.#blocks !== undefined) return this.#blocks;
    const [found] = await this.#batch([call('getLinkByLabel', { label: 'blocks' })]);
    this.#blocks = resultOf(found, Link, 'the relation “blocks”')?.id;
    return this.#blocks;
  }

  /** Puts an item away that is answered or not needed any more; one that is still open stays. */
  async end(item: ItemRow): Promise<void> {
    const { board, queue, rows, said } = this.#options;
    const log = await board.read(item.uid);
    // Nothing is known of a log that another host has alone; that one puts it away.
    if (log === undefined) return;
    const { state } = log;
    const open = inboxItemsOf(state, log.events, queue.directory);
    const own = itemKey(item, item.project.queue);
    if (open.some((one) => itemKey(one, one.queue) === own)) return;
    const { boardTaskId: task_id } = item.row;
    const once = { key: endedKey, atMs: state.phaseAtMs };
    await said.say(task_id, once, endedText(state, item.key));
    await this.#batch([moved(item, endColumn(state, item.key)), call('closeTask', { task_id })]);
    rows.forget(item);
  }

  /** One of an item that is there twice. */
  async endTwin(item: ItemRow): Promise<void> {
    const { boardTaskId: task_id } = item.row;
    const content = 'This is here twice. The other one counts.';
    await this.#batch([
      call('createComment', { task_id, user_id: 0, content }),
      moved(item, 'done'),
      call('closeTask', { task_id }),
    ]);
  }

  /** Back to where it waits, open. */
  async putBack(item: ItemRow): Promise<void> {
    await this.#batch([moved(item, 'ready')]);
    const columnId = columnOf(item.project, 'ready');
    this.#options.rows.remember({ ...item, row: { ...item.row, columnId, isOpen: true } });
  }

  async #batch(calls: readonly Call[]): Promise<readonly Reply[]> {
    const replies = await this.#options.board.parts.rpc.batch(calls);
    const failed = replies.find((reply) => !reply.ok);
    if (failed?.ok === false) throw new BoardUnavailableError(`${failed.message}.`);
    return replies;
  }
}

const Link = z.union([z.looseObject({ id: z.coerce.number() }), z.null()]);

const lookup = ({ projectId }: BoardProject, item: InboxItem): Call =>
  call('getTaskByReference', { project_id: projectId, reference: itemReference(item) });

const rowIn = (reply: Reply | undefined): BoardTask | null =>
  resultOf(reply, BoardTask.nullable(), 'an item of an inbox');

/** Within its own project: a single-row update, which also opens what was closed (`reference/kanboard.md` 1.5). */
export const moved = (
  { project, row }: Pick<ItemRow, 'project' | 'row'>,
  to: 'ready' | 'approved' | 'rejected' | 'done',
): Call =>
  call('moveTaskToProject', {
    task_id: row.boardTaskId,
    project_id: project.projectId,
    swimlane_id: row.swimlaneId,
    column_id: columnOf(project, to),
    owner_id: row.ownerId,
  });

function endColumn(state: TaskState, key: string): 'approved' | 'rejected' | 'done' {
  const decision = state.decisions.find(({ decisionId }) => decisionId === key);
  if (decision) return columnOfAnswer(decision.value);
  if (state.phase === 'verified') return 'approved';
  return state.phase === 'refused' ? 'rejected' : 'done';
}
