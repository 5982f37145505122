import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Beats } from '../ports/task-board.ts';
import type { BoardTasks } from './board-tasks.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import { call, Done, Metadata, resultOf, TagRows, type BoardTask } from './kanboard-rows.ts';
import { namespaceOf, readNamespace, type Namespace } from './slot-namespace.ts';

export interface ClaimBeatsOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly tasks: BoardTasks;
}

/**
 * Beats of claims: a counter in the metadata of the board task, under a key of that claim alone, which its
 * holder alone writes. People may forge one; that only delays an expiry (`reference/kanboard.md` 9).
 */
export class ClaimBeats {
  readonly #options: ClaimBeatsOptions;
  readonly #counts = new Map<TaskId, { readonly version: number; count: number }>();

  constructor(options: ClaimBeatsOptions) {
    this.#options = options;
  }

  /** Beats, and gives the slots as they are after it: a holder looks each time whether it still is one. */
  async beat(state: TaskState): Promise<Namespace | undefined> {
    const { claim, taskId } = state;
    if (claim === undefined) return undefined;
    const { rpc, clock, tasks } = this.#options;
    const own = this.#counts.get(taskId);
    const counted = own?.version === claim.fence ? own : { version: claim.fence, count: 0 };
    counted.count += 1;
    this.#counts.set(taskId, counted);
    const { boardTaskId } = await tasks.of(state);
    const values = { [keyOf(claim.fence)]: `${counted.count} ${Math.max(1, clock.nowMs())}` };
    const [saved, listed] = await rpc.batch([
      call('saveTaskMetadata', { task_id: boardTaskId, values }),
      call('getTagsByProject', { project_id: namespaceOf(taskId) }),
    ]);
    resultOf(saved, Done, 'the beat of a claim');
    return readNamespace(taskId, resultOf(listed, TagRows, 'the list of slots'));
  }

  async ofState(state: TaskState): Promise<Beats | undefined> {
    if (state.claim === undefined) return undefined;
    return this.of(await this.#options.tasks.of(state), state);
  }

  async of({ boardTaskId }: BoardTask, { claim }: TaskState): Promise<Beats | undefined> {
    if (claim === undefined) return undefined;
    const [reply] = await this.#options.rpc.batch([
      call('getTaskMetadata', { task_id: boardTaskId }),
    ]);
    const value = resultOf(reply, Metadata, 'the beats of a claim')[keyOf(claim.fence)];
    const [count = 0, lastAtMs] = (value ?? '').split(' ').map(Number);
    return {
      version: claim.fence,
      count: Number.isSafeInteger(count) ? count : 0,
      ...(lastAtMs !== undefined && lastAtMs > 0 ? { lastAtMs } : {}),
    };
  }
}

const keyOf = (fence: number): string => `b.${fence}`;
