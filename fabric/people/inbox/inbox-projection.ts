import { reasonOf } from '../../domain/errors.ts';
import type { TaskId } from '../../domain/ids.ts';
import type { TaskState } from '../../domain/state.ts';
import type { TaskLog } from '../../ports/task-board.ts';
import type { QueueDeps } from '../../queue/deps.ts';
import type { BoardProject } from '../../kanboard/board-projects.ts';
import type { KanboardBoard } from '../../kanboard/kanboard-board.ts';
import { isSaid, threadOf, type SaidOnce } from '../said-once.ts';
import { endedKey, ItemWriter } from './item-writer.ts';
import { inboxItemsOf, inboxOwners, type InboxItem } from './inbox-items.ts';
import { InboxRows, itemKey, type ItemRow } from './inbox-rows.ts';
import { waitingStates } from './waiting-states.ts';

export interface InboxProjectionOptions {
  readonly board: KanboardBoard;
  readonly queue: QueueDeps;
  readonly said: SaidOnce;
}

/** Between two tries while the board is away. */
const retryMs = 2_000;
/** So long a board task may lie where nothing puts it, for the act that explains it to be taken in. */
const graceMs = 30_000;

interface Wanted {
  readonly item: InboxItem;
  readonly state: TaskState;
}

/**
 * Keeps one board task in each person's inbox for all that waits for them, and puts it away once it does not.
 * A change is followed at once, a look over everything mends what people or a fault left otherwise. It decides
 * nothing; several processes do it side by side.
 */
export class InboxProjection {
  readonly #options: InboxProjectionOptions;
  readonly #rows: InboxRows;
  readonly #writer: ItemWriter;
  readonly #changed = new Set<TaskId>();
  /** Items that are known to have ended on the board, whatever the last look saw of them. */
  readonly #ended = new Map<string, ItemRow>();
  /** Since when an item lies where nothing puts it. */
  readonly #offSince = new Map<string, number>();
  readonly #stopping = new AbortController();
  #lookIsDue = false;
  #running: Promise<void> | undefined;

  constructor(options: InboxProjectionOptions) {
    this.#options = options;
    this.#rows = new InboxRows(options.board.parts.rpc);
    this.#writer = new ItemWriter({ ...options, rows: this.#rows });
  }

  /** A task changed, as this process knows it. */
  changed(uid: TaskId, { question, phase }: TaskState): void {
    const mayWait = question !== undefined || phase === 'done' || phase === 'approved';
    if (!mayWait && this.#rows.ofTask(uid).length === 0) return;
    this.#changed.add(uid);
    this.#start();
  }

  /** Something was done to an item's board task that may have ended it. */
  acted(item: ItemRow): void {
    this.#ended.set(itemKey(item, item.project.queue), item);
    this.#start();
  }

  /** Looks over everything. */
  look(): void {
    this.#lookIsDue = true;
    this.#start();
  }

  /** Resolves when everything due so far was shown, or could not be. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
    });
  }

  async #drain(): Promise<void> {
    const { clock, log } = this.#options.queue;
    let isLate = false;
    while (this.#isDue() && !this.#stopping.signal.aborted) {
      try {
        await this.#work();
        isLate = false;
      } catch (error) {
        if (!isLate) log.warn('inbox.late', { reason: reasonOf(error) });
        isLate = true;
        this.#lookIsDue = true;
        await clock.sleep(retryMs, this.#stopping.signal);
      }
    }
  }

  #isDue(): boolean {
    return this.#lookIsDue || this.#changed.size > 0 || this.#ended.size > 0;
  }

  /** What changed comes first: a person may be waiting for it. */
  async #work(): Promise<void> {
    for (const [key, item] of this.#ended) {
      await this.#endAsItIs(item);
      this.#ended.delete(key);
    }
    for (const uid of this.#changed) {
      this.#changed.delete(uid);
      await this.#follow(uid);
    }
    if (!this.#lookIsDue) return;
    this.#lookIsDue = false;
    await this.#lookOver();
  }

  /** Unless it is put away as it should be: an act may be told again long after it. */
  async #endAsItIs(item: ItemRow): Promise<void> {
    const thread = await threadOf(this.#options.board.parts.rpc, item.row.boardTaskId);
    const isAway = thread && !thread.row.isOpen && isSaid(thread.comments, endedKey);
    if (thread && !isAway) await this.#writer.end({ ...item, row: thread.row });
  }

  async #follow(uid: TaskId): Promise<void> {
    const log = await this.#options.board.known(uid);
    if (log === undefined) return;
    const { state } = log;
    const items = this.#itemsOf(log);
    for (const item of items) {
      if (this.#rows.get(item, item.queue) === undefined) await this.#make({ item, state });
    }
    const open = new Set(items.map((item) => itemKey(item, item.queue)));
    for (const row of this.#rows.ofTask(uid)) {
      if (!open.has(itemKey(row, row.project.queue))) await this.#writer.end(row);
    }
  }

  #itemsOf({ state, events }: TaskLog): readonly InboxItem[] {
    return inboxItemsOf(state, events, this.#options.queue.directory);
  }

  async #lookOver(): Promise<void> {
    const projects = await this.#inboxes();
    const wanted = await this.#wanted();
    const seen = await this.#rows.refresh(projects);
    for (const [key, one] of wanted) {
      const known = this.#rows.get(one.item, one.item.queue);
      if (known === undefined) await this.#make(one);
      else await this.#mend(key, known);
    }
    for (const one of seen) {
      const key = itemKey(one, one.project.queue);
      const isTwin =
        this.#rows.get(one, one.project.queue)?.row.boardTaskId !== one.row.boardTaskId;
      if (isTwin && wanted.has(key)) await this.#writer.endTwin(one);
      else if (!wanted.has(key)) await this.#writer.end(one);
    }
    for (const key of this.#offSince.keys()) if (!wanted.has(key)) this.#offSince.delete(key);
  }

  /** Every person's project, theirs to open. */
  async #inboxes(): Promise<readonly BoardProject[]> {
    const { board, queue } = this.#options;
    const projects: BoardProject[] = [];
    for (const { queue: own } of inboxOwners(queue.directory)) {
      const project = await board.parts.projects.of(own);
      if (project.layout !== 'inbox') continue;
      await this.#writer.admit(project);
      projects.push(project);
    }
    return projects;
  }

  async #wanted(): Promise<ReadonlyMap<string, Wanted>> {
    const { board } = this.#options;
    const wanted = new Map<string, Wanted>();
    for (const { taskId } of await waitingStates(board)) {
      const log = await board.known(taskId);
      if (log === undefined) continue;
      for (const item of this.#itemsOf(log)) {
        wanted.set(itemKey(item, item.queue), { item, state: log.state });
      }
    }
    return wanted;
  }

  /** Not there: made. There but closed, and no act said why for long: opened again. */
  async #make({ item, state }: Wanted): Promise<void> {
    const there = await this.#writer.make(item, state);
    const key = itemKey(item, item.queue);
    if (there?.row.isOpen === false && this.#isOffLong(key)) await this.#writer.putBack(there);
  }

  async #mend(key: string, known: ItemRow): Promise<void> {
    const { ready, waiting } = known.project.columnIds;
    const { columnId, dueAtMs, movedAtMs } = known.row;
    if (columnId === waiting) {
      const isOver = dueAtMs > movedAtMs && dueAtMs <= this.#options.queue.clock.nowMs();
      if (isOver) await this.#writer.putBack(known);
    } else if (columnId !== ready) {
      if (this.#isOffLong(key)) await this.#writer.putBack(known);
      return;
    }
    this.#offSince.delete(key);
  }

  #isOffLong(key: string): boolean {
    const nowMs = this.#options.queue.clock.monotonicMs();
    const sinceMs = this.#offSince.get(key) ?? nowMs;
    this.#offSince.set(key, sinceMs);
    return nowMs - sinceMs > graceMs;
  }
}
