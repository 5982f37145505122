import { performance } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';

/** The machine's own time. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    await after(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  },
};
