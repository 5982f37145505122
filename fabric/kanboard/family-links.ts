import { z } from 'zod';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { TaskBoard } from '../ports/task-board.ts';
import type { BoardTasks } from './board-tasks.ts';
import type { Call, KanboardRpc } from './kanboard-rpc.ts';
import { call, resultOf, type BoardTask } from './kanboard-rows.ts';

export interface FamilyLinksOptions {
  readonly rpc: KanboardRpc;
  readonly mirror: Pick<TaskBoard, 'read'>;
  readonly tasks: BoardTasks;
}

const Links = z.array(z.looseObject({ id: z.coerce.number().int(), label: z.string() }));

/** Families as Kanboard's own links between board tasks: people follow them without any id. */
export class FamilyLinks {
  readonly #options: FamilyLinksOptions;
  #linkIds: Promise<ReadonlyMap<string, number>> | undefined;

  constructor(options: FamilyLinksOptions) {
    this.#options = options;
  }

  /** What links a task to the one it comes from; undefined where there is none on this board. */
  async linkOf(state: TaskState, row: BoardTask): Promise<Call | undefined> {
    const { parent, relation = 'child' } = state.task.provenance;
    const above = parent === undefined ? undefined : await this.#rowOf(parent);
    if (above === undefined) return undefined;
    const label = relation === 'child' || relation === 'split' ? 'is a child of' : 'relates to';
    const link_id = (await this.#ids()).get(label);
    if (link_id === undefined) return undefined;
    // A second one is refused by its unique index, which is as good as done.
    return call('createTaskLink', {
      task_id: row.boardTaskId,
      opposite_task_id: above.boardTaskId,
      link_id,
    });
  }

  async #rowOf(uid: TaskId): Promise<BoardTask | undefined> {
    const { mirror, tasks } = this.#options;
    const known = tasks.known(uid);
    if (known) return known;
    const state = (await mirror.read(uid))?.state;
    return state && tasks.refresh(state);
  }

  /** Kanboard lets an administrator rename its links; a label that is gone links nothing. */
  #ids(): Promise<ReadonlyMap<string, number>> {
    this.#linkIds ??= this.#load().catch((error: unknown) => {
      this.#linkIds = undefined;
      throw error;
    });
    return this.#linkIds;
  }

  async #load(): Promise<ReadonlyMap<string, number>> {
    const [reply] = await this.#options.rpc.batch([call('getAllLinks')]);
    const links = resultOf(reply, Links, 'the kinds of links');
    return new Map(links.map(({ id, label }) => [label, id]));
  }
}
