import type { Provenance } from '../../fabric/domain/task.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import { outOfReach } from '../../fabric/queue/reach.ts';

/** Agents that the router does not offer for a task of this origin, each with why. */
export function barredFor(
  directory: Directory,
  from: Pick<Provenance, 'submitter' | 'submitterRole' | 'ancestors'>,
): ReadonlyMap<string, string> {
  const barred = directory.agents().flatMap((policy) => {
    const no = outOfReach(directory, from, policy);
    return no === undefined ? [] : [[policy.agentId, no.why] as const];
  });
  return new Map(barred);
}
