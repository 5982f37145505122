import type { TaskState } from '../domain/state.ts';
import type { TaskLog } from '../ports/task-board.ts';

/** Beats of the open claims of this process's board. */
export class BeatCounts {
  readonly #counts = new Map<string, { readonly version: number; readonly count: number }>();

  /** One more beat of the claim that `state` has. */
  count(state: TaskState): void {
    const now = this.of(state);
    if (now) this.#counts.set(state.taskId, { version: now.version, count: now.count + 1 });
  }

  of(state: TaskState): TaskLog['beats'] {
    if (state.claim === undefined) return undefined;
    const { fence: version } = state.claim;
    const known = this.#counts.get(state.taskId);
    return known?.version === version ? known : { version, count: 0 };
  }

  forget(uid: string): void {
    this.#counts.delete(uid);
  }
}
