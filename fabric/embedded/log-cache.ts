import type { TaskEvent } from '../domain/events.ts';
import type { TaskState } from '../domain/state.ts';

/** A log as memory knows it; never changed, an append puts a new one in its place. */
export interface CachedLog {
  readonly number: number;
  readonly events: readonly TaskEvent[];
  readonly state: TaskState;
  /** Characters of its events as JSON. */
  readonly chars: number;
}

/** The logs used last, bounded by their size as JSON. All it forgets is in the file or on its way there. */
export class LogCache {
  readonly #logs = new Map<string, CachedLog>();
  readonly #mostChars: number;
  #chars = 0;

  constructor(mostChars: number) {
    this.#mostChars = mostChars;
  }

  get(uid: string): CachedLog | undefined {
    const log = this.#logs.get(uid);
    if (log === undefined) return undefined;
    // A Map goes by insertion: to be the youngest again it is put in anew.
    this.#logs.delete(uid);
    this.#logs.set(uid, log);
    return log;
  }

  put(uid: string, log: CachedLog): void {
    this.#chars += log.chars - (this.#logs.get(uid)?.chars ?? 0);
    this.#logs.delete(uid);
    this.#logs.set(uid, log);
    if (this.#chars <= this.#mostChars) return;
    for (const [eldest, { chars }] of this.#logs) {
      if (this.#chars <= this.#mostChars || eldest === uid) return;
      this.#logs.delete(eldest);
      this.#chars -= chars;
    }
  }

  clear(): void {
    this.#logs.clear();
    this.#chars = 0;
  }
}
