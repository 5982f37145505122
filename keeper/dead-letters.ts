import type { Author } from '../fabric/domain/events.ts';
import { limits } from '../fabric/domain/limits.ts';
import { change, eventOf } from '../fabric/queue/change.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';

/**
 * Moves ready tasks whose attempts are spent out of their queue, so that a poison task never runs a
 * fourth time. Returns how many. Parking counts no attempt, so it never leads here.
 */
export async function sweepDeadLetters(deps: QueueDeps, by: Author): Promise<number> {
  let moved = 0;
  let cursor: string | undefined;
  do {
    const page = await deps.board.find({
      phases: ['ready'],
      limit: 500,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const seen of page.states) {
      if (seen.attempts < limits.attempts) continue;
      await change(deps, seen.taskId, ({ state }) =>
        state.phase === 'ready' && state.attempts >= limits.attempts
          ? eventOf(deps, by, 'deadLettered', {
              reason:
                `${state.attempts} attempts are spent; the last one: ${state.failure ?? 'unknown'}`.slice(
                  0,
                  limits.messageChars,
                ),
            })
          : undefined,
      );
      moved += 1;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return moved;
}
