import type { Clock } from '../../fabric/ports/clock.ts';

export interface ManualClock extends Clock {
  /** Moves wall and monotonic time on and wakes the sleepers that are due, in order. */
  advance(ms: number): Promise<void>;
  /** Steps the wall clock only, as NTP or an operator does. */
  step(ms: number): void;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Time that a test moves; `sleep` and `after` are over only by `advance`, or called off. */
export function manualClock(startMs = Date.UTC(2026, 10, 30, 9, 0, 0)): ManualClock {
  let wallMs = startMs;
  let monotonicMs = 0;
  const sleepers = new Set<Sleeper>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    // Whole, as a wall clock is: sleepers may be due between two milliseconds.
    nowMs: () => Math.floor(wallMs),
    monotonicMs: () => monotonicMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = {
          dueMs: monotonicMs + ms,
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        if (signal?.aborted) {
          resolve();
          return;
        }
        sleepers.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake, { once: true });
      }),
    after: (ms, due) => {
      const sleeper = {
        dueMs: monotonicMs + ms,
        wake: () => {
          sleepers.delete(sleeper);
          due();
        },
      };
      sleepers.add(sleeper);
      return () => void sleepers.delete(sleeper);
    },
    async advance(ms) {
      const endMs = monotonicMs + ms;
      for (;;) {
        const [next] = [...sleepers].sort((a, b) => a.dueMs - b.dueMs);
        if (next === undefined || next.dueMs > endMs) break;
        wallMs += next.dueMs - monotonicMs;
        monotonicMs = next.dueMs;
        next.wake();
        await settle();
      }
      wallMs += endMs - monotonicMs;
      monotonicMs = endMs;
      await settle();
    },
    step: (ms) => {
      wallMs += ms;
    },
  };
}
