import type { QueueId } from '../../fabric/domain/ids.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';

export const isHuman = ({ runtime }: AgentPolicy): boolean => runtime === 'human';

/**
 * Whose projects each may open. An agent: its own queue and those it may call, to be shown as owner and
 * creator. A person: their own inbox, the queues they answer for, and those whose Card names them.
 */
export function queuesOf(policy: AgentPolicy, all: readonly AgentPolicy[]): ReadonlySet<QueueId> {
  const inboxes = new Set(all.filter(isHuman).map(({ queue }) => queue));
  const shared = all.filter(({ queue }) => !inboxes.has(queue));
  const open = isHuman(policy)
    ? shared.filter(
        ({ responsibleHuman, admit }) =>
          responsibleHuman === policy.agentId || admit.includes(policy.agentId),
      )
    : shared.filter(
        ({ agentId }) => policy.mayCall.includes(agentId) || policy.mayCall.includes('*'),
      );
  return new Set([policy.queue, ...open.map(({ queue }) => queue)]);
}

/** Whether more than one person opens the project of `queue`: then it shows no content (`DESIGN.md` 7). */
export const isShared = (queue: QueueId, all: readonly AgentPolicy[]): boolean =>
  all.filter((policy) => isHuman(policy) && queuesOf(policy, all).has(queue)).length > 1;
