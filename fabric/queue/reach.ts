import { MeshError, type MeshErrorCode } from '../domain/errors.ts';
import type { Provenance } from '../domain/task.ts';
import type { AgentPolicy, Directory } from '../ports/directory.ts';

type From = Pick<Provenance, 'submitter' | 'submitterRole' | 'ancestors'>;

/** Why a task may not go to an agent, in a clause, and what to do. */
export interface OutOfReach {
  readonly code: Extract<MeshErrorCode, 'TRUST_DENIED' | 'CYCLE_DETECTED'>;
  readonly why: string;
  readonly advice: string;
}

/**
 * Whether a task of this origin may go to `target`; undefined where it may. The same question at the submit
 * of a pinned task and wherever the router offers or chooses an agent: a target of constraints or `auto`
 * opens no way to whom the submitter may not call.
 */
export function outOfReach(
  directory: Pick<Directory, 'agent'>,
  { submitter, submitterRole, ancestors }: From,
  target: AgentPolicy,
): OutOfReach | undefined {
  const { agentId } = target;
  // An agent that is already above would wait for itself; a person may be asked at every level.
  if (target.trust !== 'human' && ancestors.includes(agentId)) {
    return {
      code: 'CYCLE_DETECTED',
      why: `${agentId} is already at work above this task (${[...ancestors, agentId].join(' → ')})`,
      advice: 'Ask the submitter a question instead of calling back.',
    };
  }
  if (submitterRole === 'human') return undefined;
  const allowed = directory.agent(submitter)?.mayCall ?? [];
  if (allowed.includes('*') || allowed.includes(agentId)) return undefined;
  const listed = allowed.length > 0 ? allowed.join(', ') : 'nobody';
  return {
    code: 'TRUST_DENIED',
    why: `${submitter} may not call ${agentId}: its Card's mayCall lists ${listed}`,
    advice: 'Add it there by a commit.',
  };
}

/** @throws MeshError `CYCLE_DETECTED`, `TRUST_DENIED` (mayCall) */
export function requireReach(
  directory: Pick<Directory, 'agent'>,
  from: From,
  target: AgentPolicy,
): void {
  const no = outOfReach(directory, from, target);
  if (no === undefined) return;
  const facts =
    no.code === 'CYCLE_DETECTED'
      ? { path: 'target', agentId: target.agentId }
      : { path: 'mayCall', agentId: from.submitter };
  throw new MeshError(no.code, `${no.why}. ${no.advice}`, facts);
}

/** Ready at once only when the target's Card admits the submitter and nothing is tainted. */
export function isAdmitted(
  { admit }: Pick<AgentPolicy, 'admit'>,
  { submitter, submitterTrust }: Pick<Provenance, 'submitter' | 'submitterTrust'>,
  tainted: boolean,
): boolean {
  if (tainted) return false;
  return admit.includes(submitter) || admit.includes(submitterTrust);
}
