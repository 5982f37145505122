import { reasonOf } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { NoAnswerError } from './no-answer.ts';

/** Failures in a row that make an outage: one or two are a lost answer. */
const failuresOfOutage = 3;
/** One call in so long tries whether the board is back. */
const probeEveryMs = 1_000;

/**
 * Knows when the board is away, so that a hundred callers do not each wait for their time-out: they are
 * told at once, and now and then one of them tries.
 */
export class OutageWatch {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #listeners = new Set<() => void>();
  #failures = 0;
  #probedAtMs = 0;
  #reason = '';

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get isAway(): boolean {
    return this.#failures >= failuresOfOutage;
  }

  /** @throws NoAnswerError while it is away, unless it is time to try; nothing was sent then */
  requireThere(): void {
    if (!this.isAway) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#probedAtMs < probeEveryMs) {
      throw new NoAnswerError(`The board is away: ${this.#reason}`, false);
    }
    this.#probedAtMs = nowMs;
  }

  answered(): void {
    const wasAway = this.isAway;
    this.#failures = 0;
    if (wasAway) for (const back of [...this.#listeners]) back();
  }

  failed(error: unknown): void {
    this.#failures += 1;
    this.#reason = reasonOf(error);
    this.#probedAtMs = this.#clock.monotonicMs();
  }

  onBack(back: () => void): () => void {
    this.#listeners.add(back);
    return () => this.#listeners.delete(back);
  }
}
