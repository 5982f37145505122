import { z } from 'zod';
import type { QueueId, TaskId } from '../../domain/ids.ts';
import type { BoardProject } from '../../kanboard/board-projects.ts';
import { callsPerRequest, type KanboardRpc } from '../../kanboard/kanboard-rpc.ts';
import { BoardTask, call, resultOf } from '../../kanboard/kanboard-rows.ts';
import { itemNameOf, itemReference, type ItemName } from './inbox-items.ts';

/** One item as a board task; also one that a person closed. */
export interface ItemRow extends ItemName {
  readonly project: BoardProject;
  readonly row: BoardTask;
}

/** One name for an item of one person, in all tables of a process. */
export const itemKey = ({ uid, key }: ItemName, queue: QueueId): string =>
  `${queue} ${itemReference({ uid, key })}`;

/** The open board tasks of people's items, as last seen. */
export class InboxRows {
  readonly #rpc: KanboardRpc;
  readonly #known = new Map<string, ItemRow>();

  constructor(rpc: KanboardRpc) {
    this.#rpc = rpc;
  }

  get(name: ItemName, queue: QueueId): ItemRow | undefined {
    return this.#known.get(itemKey(name, queue));
  }

  ofTask(uid: TaskId): readonly ItemRow[] {
    return [...this.#known.values()].filter((item) => item.uid === uid);
  }

  remember(item: ItemRow): void {
    this.#known.set(itemKey(item, item.project.queue), item);
  }

  forget(item: ItemRow): void {
    this.#known.delete(itemKey(item, item.project.queue));
  }

  /**
   * Reads what is open in `projects`; gives all of it, the eldest of each item first: a second one of an item
   * is one too many, made by a process that was taken for dead.
   */
  async refresh(projects: readonly BoardProject[]): Promise<readonly ItemRow[]> {
    const found: ItemRow[] = [];
    for (let from = 0; from < projects.length; from += callsPerRequest) {
      const some = projects.slice(from, from + callsPerRequest);
      const replies = await this.#rpc.batch(
        some.map(({ projectId: project_id }) =>
          call('searchTasks', { project_id, query: 'status:open' }),
        ),
      );
      for (const [at, project] of some.entries()) {
        for (const row of resultOf(replies[at], z.array(BoardTask), 'the items of an inbox')) {
          const name = itemNameOf(row.reference);
          if (name) found.push({ ...name, project, row });
        }
      }
    }
    found.sort((one, other) => one.row.boardTaskId - other.row.boardTaskId);
    this.#known.clear();
    for (const item of [...found].reverse()) this.remember(item);
    return found;
  }
}
