import type { TaskState } from '../domain/state.ts';
import type { Beats } from '../ports/task-board.ts';

/**
 * Beats of the open claims of this process's board. They begin at a number of this opening's own, so that
 * an observer that remembers an earlier one's takes the difference for a beat, never for silence.
 */
export class BeatCounts {
  readonly #counts = new Map<string, Beats>();
  readonly #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  /** One more beat of the claim that `state` has. */
  count(state: TaskState, lastAtMs: number): void {
    const now = this.of(state);
    if (now === undefined) return;
    this.#counts.set(state.taskId, { version: now.version, count: now.count + 1, lastAtMs });
  }

  of(state: TaskState): Beats | undefined {
    if (state.claim === undefined) return undefined;
    const { fence: version } = state.claim;
    const known = this.#counts.get(state.taskId);
    return known?.version === version ? known : { version, count: this.#first };
  }

  forget(uid: string): void {
    this.#counts.delete(uid);
  }
}
