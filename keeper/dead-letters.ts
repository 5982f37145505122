import type { Author } from '../fabric/domain/events.ts';
import { limits } from '../fabric/domain/limits.ts';
import { hasRoomForRun, type TaskState } from '../fabric/domain/state.ts';
import { change, eventOf } from '../fabric/queue/change.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { eachTask } from './each-task.ts';

/** From so many events on a log has no room for another run (`hasRoomForRun`). */
const fullFromVersion = limits.reservedFromVersion - limits.eventsOfRun;

/**
 * Gives up what waits in a queue and can never run again, because its log has no room for another run;
 * else it would wait there for ever. Spent attempts lead to the dead letters by themselves. Returns how many.
 */
export async function sweepDeadLetters(deps: QueueDeps, by: Author): Promise<number> {
  const query = { phases: ['ready', 'scheduled'], minVersion: fullFromVersion } as const;
  return eachTask(deps, 'dead-letters', query, async (seen) => {
    const after = await change(deps, seen.taskId, ({ state }) =>
      isStuck(state) ? eventOf(deps, by, 'deadLettered', { reason: reasonFor(state) }) : undefined,
    );
    return after.phase === 'dead-letter';
  });
}

const isStuck = (state: TaskState): boolean =>
  (state.phase === 'ready' || state.phase === 'scheduled') && !hasRoomForRun(state);

function reasonFor({ version, parked }: TaskState): string {
  const last = parked ? `; last it was parked: ${parked.reason}` : '';
  const reason = `its log has ${version} of ${limits.versions} events and no room for another run${last}`;
  return reason.slice(0, limits.messageChars);
}
