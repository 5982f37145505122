import type { ContextId, QueueId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { columnOf, type BoardProjects } from './board-projects.ts';
import { boardViewOf } from './board-view.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import { BoardTask, call, Comments, Done, MadeId, resultOf } from './kanboard-rows.ts';

export interface ConversationCardsOptions {
  readonly rpc: KanboardRpc;
  /** Whether everybody who sees the project may read what was said, else only that it was; default: yes. */
  readonly showsWords?: (queue: QueueId) => boolean;
}

/** Characters of a turn that are shown; the rest is with its task. */
const mostChars = 1_000;

/**
 * One board task for a conversation of somebody with a persona: each turn that is over is a comment of it
 * (`DESIGN.md` 5.2), so that a day of questions is one line of a board.
 */
export class ConversationCards {
  readonly #options: ConversationCardsOptions;
  readonly #projects: BoardProjects;
  /** One turn of a conversation after the other, or two would each make its board task. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(options: ConversationCardsOptions, projects: BoardProjects) {
    this.#options = options;
    this.#projects = projects;
  }

  /** Tells of a turn that is over; a second time it changes nothing. */
  async tell(state: TaskState): Promise<void> {
    const reference = conversationRef(state.contextId, state.agentId ?? state.queue);
    const before = this.#lines.get(reference) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#tell(state, reference));
    this.#lines.set(reference, turn);
    try {
      await turn;
    } finally {
      if (this.#lines.get(reference) === turn) this.#lines.delete(reference);
    }
  }

  async #tell(state: TaskState, reference: string): Promise<void> {
    const { rpc } = this.#options;
    const project = await this.#projects.of(state.queue);
    const { projectId: project_id } = project;
    const lookup = call('getTaskByReference', { project_id, reference });
    const found = resultOf((await rpc.batch([lookup]))[0], BoardTask.nullable(), 'a conversation');
    const row =
      found ?? (await this.#make(state, reference, columnOf(project, 'done'), project_id));
    const [listed] = await rpc.batch([call('getAllComments', { task_id: row.boardTaskId })]);
    const mark = markOfTurn(state);
    const told = resultOf(listed, Comments, 'the turns of a conversation');
    if (told.some(({ text }) => text.endsWith(mark))) return;
    const [made, updated] = await rpc.batch([
      call('createComment', {
        task_id: row.boardTaskId,
        user_id: 0,
        content: `${this.#turnText(state)}\n\n${mark}`,
      }),
      call('updateTask', { id: row.boardTaskId, title: this.#titleOf(state) }),
      ...(row.isOpen ? [] : [call('openTask', { task_id: row.boardTaskId })]),
    ]);
    resultOf(made, MadeId, 'a turn of a conversation');
    resultOf(updated, Done, 'the title of a conversation');
  }

  async #make(
    state: TaskState,
    reference: string,
    column_id: number,
    project_id: number,
  ): Promise<BoardTask> {
    const { rpc } = this.#options;
    const [, looked] = await rpc.batch([
      call('createTask', { title: this.#titleOf(state), project_id, column_id, reference }),
      call('getTaskByReference', { project_id, reference }),
    ]);
    return resultOf(looked, BoardTask, 'a new conversation');
  }

  #showsWords(queue: QueueId): boolean {
    return this.#options.showsWords?.(queue) ?? true;
  }

  /** Shows the newest turn, so the board says what it is about now. */
  #titleOf({ task, queue, agentId }: TaskState): string {
    const { submitter } = task.provenance;
    return this.#showsWords(queue)
      ? task.intent.title.toWellFormed()
      : `${submitter} talks with ${agentId ?? queue}`;
  }

  #turnText(state: TaskState): string {
    const { task, queue, outcome, failure, agentId } = state;
    const who = `**${task.provenance.submitter}**`;
    if (!this.#showsWords(queue)) return `${who} got an answer.`;
    const answer = outcome?.summary ?? failure ?? wordOf(state);
    return `${who}: ${cut(task.intent.body)}\n\n**${agentId ?? queue}**: ${cut(answer)}`;
  }
}

/** At most 186 characters of the 191 that a reference may have. */
const conversationRef = (contextId: ContextId, persona: string): string =>
  `mesh:ctx:${contextId}:${persona}`;

const markOfTurn = ({ taskId }: TaskState): string => `[//]: # (mesh turn ${taskId})`;

const wordOf = (state: TaskState): string => boardViewOf(state).tags[0] ?? state.phase;

const cut = (text: string): string => {
  const fits = text.trim().toWellFormed();
  return fits.length <= mostChars ? fits : `${fits.slice(0, mostChars).toWellFormed()} …`;
};
