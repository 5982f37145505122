import { performance } from 'node:perf_hooks';
import type { Clock } from '../ports/clock.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  // Not the promised timers of Node: those make an error with its stack for each sleep that is cut short.
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      signal?.addEventListener('abort', over, { once: true });
    });
  },
  after(ms, due) {
    const timer = setTimeout(due, ms);
    return () => {
      clearTimeout(timer);
    };
  },
};
