import type { Author } from '../fabric/domain/events.ts';
import { limits } from '../fabric/domain/limits.ts';
import { change, eventOf } from '../fabric/queue/change.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { eachTask } from './each-task.ts';

/**
 * Archives what was completed without verification `limits.retentionMs` ago (`DESIGN.md` 4.4). It stays on
 * the board and in lists of what is COMPLETED; nobody is asked about it any more. Returns how many.
 */
export async function sweepRetention(deps: QueueDeps, by: Author): Promise<number> {
  const endedBeforeMs = deps.clock.nowMs() - limits.retentionMs;
  const query = { phases: ['done'], endedBeforeMs } as const;
  return eachTask(deps, 'retention', query, async (seen) => {
    const after = await change(deps, seen.taskId, ({ state }) =>
      state.phase === 'done' && state.task.verification === 'none'
        ? eventOf(deps, by, 'archived', {})
        : undefined,
    );
    return after.phase === 'archived';
  });
}
