import type { Author } from '../domain/events.ts';
import type { AgentId, TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Selection } from '../domain/task.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';

/**
 * Puts the router's choice on record under the task's own uid; a task that was routed before keeps
 * its first choice, so that a resend follows it. With it come the chosen agent's effects: a task that
 * was submitted to nobody in particular is as careful as the agent that does it.
 */
export async function routeTask(
  deps: QueueDeps,
  by: Author,
  uid: TaskId,
  chosen: Pick<AgentPolicy, 'queue' | 'effects'> & {
    readonly agentId: AgentId;
    readonly selection?: Selection;
  },
): Promise<TaskState> {
  return change(deps, uid, ({ state }) =>
    state.agentId !== undefined
      ? undefined
      : eventOf(deps, by, 'routed', {
          agentId: chosen.agentId,
          queue: chosen.queue,
          effects: chosen.effects,
          ...(chosen.selection ? { selection: chosen.selection } : {}),
        }),
  );
}
