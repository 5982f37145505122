import { canFindStrays, killMarked } from '../agents/executors/run-mark.ts';
import { runIdOf } from '../agents/runtimes/runner-packet.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Log } from '../fabric/ports/log.ts';

const killWithinMs = 5_000;

/**
 * Ends the programs of a run whose process died on this host: nobody reads their answer any more, and
 * the next run of the task must not work beside them.
 */
export function strayRunEnder({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
  return async (state: TaskState): Promise<void> => {
    const fence = state.claim?.fence;
    if (fence === undefined || !canFindStrays()) return;
    const { killed, survivors } = await killMarked(runIdOf({ state, fence }), clock, killWithinMs);
    const about = { taskId: state.taskId, fence };
    if (survivors.length > 0) {
      log.error('run.strays-survive', { ...about, pids: survivors.join(',') });
    } else if (killed > 0) log.warn('run.strays-ended', { ...about, killed });
  };
}
