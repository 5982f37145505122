import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Clock } from '../../fabric/ports/clock.ts';

/** How often a run's program may say what it does (`limits.progressPerMinute`). */
export interface ProgressMeter {
  /** Counts one sentence; where the run has spent its share: the instant (ms) from which it has one again. */
  spentUntil(run: { readonly taskId: TaskId; readonly fence: number }): number | undefined;
}

interface Window {
  readonly fence: number;
  readonly sinceMs: number;
  count: number;
}

const windowMs = 60_000;

/** One for all personas of a process, so that going to another address brings a run nothing. */
export function createProgressMeter(clock: Clock): ProgressMeter {
  const windows = new Map<TaskId, Window>();
  return {
    spentUntil({ taskId, fence }) {
      const nowMs = clock.monotonicMs();
      forgetOver(windows, nowMs);
      const window = windows.get(taskId);
      if (window?.fence !== fence) {
        windows.delete(taskId);
        windows.set(taskId, { fence, sinceMs: nowMs, count: 1 });
        return undefined;
      }
      if (window.count >= limits.progressPerMinute) {
        return Math.ceil(clock.nowMs() + window.sinceMs + windowMs - nowMs);
      }
      window.count += 1;
      return undefined;
    },
  };
}

/** A map keeps the order of insertion: who is over stands before who is not. */
function forgetOver(windows: Map<TaskId, Window>, nowMs: number): void {
  for (const [taskId, { sinceMs }] of windows) {
    if (nowMs - sinceMs < windowMs) return;
    windows.delete(taskId);
  }
}
