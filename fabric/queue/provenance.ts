import { maySee } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { AgentId, PrincipalId, TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { isTainted, type TaskState } from '../domain/state.ts';
import type { Provenance } from '../domain/task.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';
import type { SubmitRequest } from './submit-request.ts';
import { namesTainted } from './taint.ts';

/**
 * Where a submit comes from: submitter and interlocutor from the credential, parent from the run's
 * own token or, if the submitter may see it, from the request; with depth cap.
 * @throws MeshError `DEPTH_EXCEEDED`, `NOT_FOUND` (parent)
 */
export async function provenanceOf(
  deps: QueueDeps,
  request: SubmitRequest,
  uid: TaskId,
): Promise<Provenance & { tainted: boolean }> {
  const { principal } = request;
  const parent = await parentOf(deps, request);
  const interlocutor = interlocutorOf(request, parent);
  const beside = standsBeside(request);
  const above = parent?.task.provenance;
  const ancestors = parent ? (beside ? (above?.ancestors ?? []) : ancestorsBelow(parent)) : [];
  const depth = above ? above.depth + (beside ? 0 : 1) : 0;
  if (depth > limits.ancestryDepth) {
    throw new MeshError(
      'DEPTH_EXCEEDED',
      `The task would be ${depth} levels below its root and at most ${limits.ancestryDepth} are allowed. ` +
        'Finish the work here or ask a person.',
      { path: 'parent', depth },
    );
  }
  return {
    submitter: principal.id,
    submitterRole: principal.role,
    submitterTrust: principal.trust,
    ...(interlocutor ? { interlocutor } : {}),
    ...(principal.actor ? { via: principal.actor } : {}),
    ...(parent ? { parent: parent.taskId } : {}),
    root: parent?.task.provenance.root ?? uid,
    depth,
    ancestors,
    ...(parent ? { relation: request.relation ?? 'child' } : {}),
    tainted: await isMadeOfTainted(deps, request, parent),
  };
}

async function parentOf(
  deps: QueueDeps,
  { principal, parent }: SubmitRequest,
): Promise<TaskState | undefined> {
  const uid = principal.run?.taskId ?? parent;
  if (uid === undefined) return undefined;
  const log = await deps.board.read(uid);
  if (log === undefined) throw unknownTask(uid);
  if (principal.run === undefined && !maySee(log.state, principal)) throw unknownTask(uid);
  return log.state;
}

/**
 * What follows an ended task stands beside it: the same agent may do a rework, and the tenth rework is
 * no deeper than the first. A run's own submits are always below its task, whatever they say.
 */
function standsBeside({ principal, relation }: SubmitRequest): boolean {
  if (principal.run !== undefined) return false;
  return relation === 'rework' || relation === 'escalation' || relation === 'split';
}

/**
 * The human it is done for: a person for itself; an agent's run for whom its task is done. An agent that
 * merely names a task it may see gets nobody's authority by that: it must be at work on it now.
 */
function interlocutorOf(
  request: SubmitRequest,
  parent: TaskState | undefined,
): PrincipalId | undefined {
  const { principal } = request;
  if (principal.role === 'human') return principal.id;
  if (parent === undefined) return undefined;
  const isAtWork = principal.run !== undefined || parent.claim?.holder === principal.id;
  // The mesh itself says what follows an ended task, never a body: it stays for whom that was done.
  return isAtWork || standsBeside(request) ? parent.task.provenance.interlocutor : undefined;
}

/** Tainted: from an untrusted submitter, of a tainted task, or from what one brought about. */
async function isMadeOfTainted(
  { board }: QueueDeps,
  { principal, contextRefs = [] }: SubmitRequest,
  parent: TaskState | undefined,
): Promise<boolean> {
  if (principal.trust === 'untrusted') return true;
  if (parent !== undefined && isTainted(parent)) return true;
  return namesTainted(board, principal, contextRefs);
}

function ancestorsBelow(parent: TaskState): AgentId[] {
  const above = parent.task.provenance.ancestors;
  return parent.agentId ? [...above, parent.agentId] : [...above];
}
