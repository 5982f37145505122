import { MeshError } from '../domain/errors.ts';
import type { Author, TaskEvent } from '../domain/events.ts';
import type { AgentId, TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { Selection } from '../domain/task.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { isAdmitted, requireReach } from './reach.ts';

/**
 * Puts the router's choice on record under the task's own uid; a task that was routed before keeps
 * its first choice, so that a resend follows it. The chosen agent is held to all that a pinned one is: the
 * submitter may call it, it is not above the task already, and where its Card does not admit the submitter
 * the task waits for a person. With it come the agent's effects: a task that was submitted to nobody in
 * particular is as careful as the agent that does it; and its verification policy, where no other was said.
 * @throws MeshError `NO_TARGET` for an agent that no Card names any more, `TRUST_DENIED`, `CYCLE_DETECTED`
 */
export async function routeTask(
  deps: QueueDeps,
  by: Author,
  uid: TaskId,
  { agentId, selection }: { readonly agentId: AgentId; readonly selection?: Selection },
): Promise<TaskState> {
  return change(deps, uid, ({ state, events }) => {
    if (state.agentId !== undefined) return undefined;
    const policy = deps.directory.agent(agentId);
    if (policy === undefined) {
      throw new MeshError('NO_TARGET', `No agent ${agentId} is registered. Decide anew.`, {
        path: 'target',
        agentId,
      });
    }
    const { provenance, tainted } = state.task;
    requireReach(deps.directory, provenance, policy);
    return eventOf(deps, by, 'routed', {
      agentId,
      queue: policy.queue,
      effects: policy.effects,
      verification: policy.verification,
      admitted: wasLetIn(events) || isAdmitted(policy, provenance, tainted),
      ...(selection ? { selection } : {}),
    });
  });
}

/** A person has moved it to Ready: whoever is chosen then is chosen with their leave. */
const wasLetIn = (events: readonly TaskEvent[]): boolean =>
  events.some(({ kind, by }) => kind === 'admitted' && by.role === 'human');
