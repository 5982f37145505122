import { hash } from 'node:crypto';
import { BoardUnavailableError, MeshError } from '../domain/errors.ts';
import type { EventOf } from '../domain/events.ts';
import { ContextId, taskIdFor, type TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { authorOf } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import type { Provenance, Target, TaskDefinition } from '../domain/task.ts';
import { fold } from '../domain/fold.ts';
import { widerEffects } from '../domain/trust.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import { appended, eventOf } from './change.ts';
import { withinCreationQuota } from './creation-quota.ts';
import type { QueueDeps } from './deps.ts';
import { provenanceOf } from './provenance.ts';
import { askForScore, needsScore } from './rating.ts';
import { isAdmitted, requireReach } from './reach.ts';
import type { SubmitRequest } from './submit-request.ts';

export interface Submitted {
  readonly state: TaskState;
  /** False when the same submit was accepted before. */
  readonly created: boolean;
}

/**
 * The one verb: makes a task durable and says where it stands. Submitting the same again, anywhere,
 * at any time, names the same task.
 * @throws MeshError `VALIDATION_ERROR` for other content under the same id; `NO_TARGET`,
 *   `TRUST_DENIED`, `DEPTH_EXCEEDED`, `CYCLE_DETECTED`, `QUOTA_EXCEEDED`, `PAYLOAD_INLINE`,
 *   `FABRIC_DOWN`; nothing was written then
 */
export async function submitTask(deps: QueueDeps, request: SubmitRequest): Promise<Submitted> {
  const uid = taskIdOf(deps, request);
  const digest = digestOf(request);
  // Whoever waits must get an answer while a board elsewhere is away (`DESIGN.md` 2).
  const { board } = deps;
  const before = await (request.mode === 'sync' ? board.known(uid) : board.read(uid));
  if (before) return resubmitted(deps, before.state, digest, request);

  const { task, to } = await checked(deps, request, uid, digest);
  const event = eventOf(deps, authorOf(request.principal), 'submitted', { task, to });
  const isFirst = await withinCreationQuota(deps, request.principal, uid, () =>
    appended(deps, uid, 1, event, request.durability),
  );
  if (!isFirst) {
    const winner = await deps.board.read(uid);
    if (winner) return resubmitted(deps, winner.state, digest, request);
    throw new BoardUnavailableError(
      `The board keeps the first event of task ${uid} taken and shows no task. Submit it again.`,
    );
  }
  const state = fold([event]);
  if (state === undefined) throw new Error('a submitted event always makes a state');
  deps.log.info('task.submitted', {
    taskId: uid,
    contextId: task.contextId,
    agent: task.agentId,
    to: state.phase,
    by: request.principal.id,
  });
  return { state: await askForScore(deps, state), created: true };
}

/**
 * What a submit would put on record, its quota aside; writes nothing.
 * @throws MeshError as `submitTask`
 */
export async function checkedSubmit(
  deps: QueueDeps,
  request: SubmitRequest,
): Promise<Pick<EventOf<'submitted'>, 'task' | 'to'>> {
  return checked(deps, request, taskIdOf(deps, request), digestOf(request));
}

async function checked(
  deps: QueueDeps,
  request: SubmitRequest,
  uid: TaskId,
  digest: string,
): Promise<Pick<EventOf<'submitted'>, 'task' | 'to'>> {
  const policy = policyFor(deps, request.target);
  checkInline(request);
  const provenance = await provenanceOf(deps, request, uid);
  requireReach(deps.directory, provenance, policy);
  const task = definitionOf(deps, request, { uid, digest, policy, provenance });
  return { task, to: startOf(deps, task, policy) };
}

export function taskIdOf(
  deps: Pick<QueueDeps, 'meshSecret'>,
  request: Pick<SubmitRequest, 'principal' | 'target' | 'idempotencyKey'>,
): TaskId {
  const { principal, target, idempotencyKey } = request;
  // A run submits as its agent; two runs of one agent must not meet on a key both chose.
  const submitter = principal.run ? `${principal.id}/${principal.run.taskId}` : principal.id;
  return taskIdFor(deps.meshSecret, submitter, targetKey(target), idempotencyKey);
}

function targetKey(target: Target): string {
  return target.kind === 'agent' ? target.agentId : JSON.stringify(target);
}

/** SHA-256 over what the submitter said and meant; not over when. */
function digestOf(request: SubmitRequest): string {
  const { intent, parts, acceptance, contextRefs, correction } = request;
  const said = [intent, parts, acceptance, contextRefs, ...(correction ? [correction] : [])];
  return hash('sha256', JSON.stringify(said), 'hex');
}

/**
 * The same submit again: its task as it is, durable by now, with the question that a death in between left
 * unasked.
 */
async function resubmitted(
  deps: QueueDeps,
  before: TaskState,
  digest: string,
  { durability = 'committed' }: SubmitRequest,
): Promise<Submitted> {
  const state = sameOrRefuse(before, digest);
  if (durability === 'committed') await deps.board.flush();
  const isNew = state.version === 1 && state.phase === 'submitted';
  return { state: isNew ? await askForScore(deps, state) : state, created: false };
}

function sameOrRefuse(state: TaskState, digest: string): TaskState {
  if (state.task.digest === digest) return state;
  throw new MeshError(
    'VALIDATION_ERROR',
    `Task ${state.taskId} was submitted before under the same key with another content. Give a new ` +
      'task another key (messageId or idempotencyKey; `mesh`: --key).',
    { path: 'message.messageId', taskId: state.taskId },
  );
}

/** The agent whose queue the task waits in: the pinned one, else the router's own until it has chosen. */
function policyFor(deps: QueueDeps, target: Target): AgentPolicy {
  const agentId =
    target.kind === 'agent'
      ? target.agentId
      : deps.directory.agents().find(({ runtime }) => runtime === 'router')?.agentId;
  const policy = agentId === undefined ? undefined : deps.directory.agent(agentId);
  if (policy) return policy;
  const what =
    agentId === undefined ? 'no router is registered' : `no agent ${agentId} is registered`;
  throw new MeshError('NO_TARGET', `The task has no target: ${what}. See \`mesh cards list\`.`, {
    path: 'target',
  });
}

function checkInline({ intent, parts }: SubmitRequest): void {
  const bytes = Buffer.byteLength(intent.body) + Buffer.byteLength(JSON.stringify(parts ?? ''));
  if (Buffer.byteLength(intent.body) <= limits.inlineBytes && bytes <= 2 * limits.inlineBytes)
    return;
  throw new MeshError(
    'PAYLOAD_INLINE',
    `The text has ${bytes} bytes and at most ${limits.inlineBytes} may stand inline. Put it into a file, ` +
      'a repository or an artifact and name it by reference (contextRefs; `mesh`: --ref).',
    { path: 'message.parts', limitBytes: limits.inlineBytes },
  );
}

interface Settled {
  readonly uid: TaskId;
  readonly digest: string;
  readonly policy: AgentPolicy;
  readonly provenance: Provenance & { readonly tainted: boolean };
}

function definitionOf(
  deps: QueueDeps,
  request: SubmitRequest,
  { uid, digest, policy, provenance: { tainted, ...provenance } }: Settled,
): TaskDefinition {
  const pinned = request.target.kind === 'agent';
  return {
    taskId: uid,
    contextId: ContextId.parse(request.contextId ?? uid),
    intent: request.intent,
    ...(request.parts ? { parts: request.parts } : {}),
    ...(request.messageId === undefined ? {} : { messageId: request.messageId }),
    digest,
    ...(request.acceptance === undefined ? {} : { acceptance: request.acceptance }),
    ...(request.correction === undefined ? {} : { correction: request.correction }),
    contextRefs: request.contextRefs ?? [],
    target: request.target,
    ...(pinned ? { agentId: policy.agentId } : {}),
    queue: policy.queue,
    ...(request.selection ? { selection: request.selection } : {}),
    priority: tainted ? 3 : (request.priority ?? 0),
    score: request.score ?? 0,
    ...(request.deadlineAtMs === undefined ? {} : { deadlineAtMs: request.deadlineAtMs }),
    ...(request.notBeforeAtMs === undefined ? {} : { notBeforeAtMs: request.notBeforeAtMs }),
    effects: widerEffects(policy.effects, request.effects ?? 'none'),
    ...verificationOf(request, policy),
    tainted,
    admitted: isAdmitted(policy, provenance, tainted),
    mode: request.mode,
    responsible: responsibleFor(deps, policy),
    provenance,
  };
}

/**
 * Who verifies it: whom the submitter says, else whom the Card of its agent names (`DESIGN.md` 4.3); where an
 * agent is still to be chosen its submitter, until the choice says more.
 */
function verificationOf(
  { principal, target, verification = 'none' }: SubmitRequest,
  policy: AgentPolicy,
): Pick<TaskDefinition, 'verification' | 'verificationOpen'> {
  const asksThemselves = policy.trust === 'human' && (principal.id as string) === policy.agentId;
  // What people ask themselves only its producer could verify, and may not.
  if (asksThemselves) return { verification: 'none' };
  if (verification !== 'card') return { verification };
  if (target.kind === 'agent') return { verification: policy.verification };
  return { verification: 'submitter', verificationOpen: true };
}

function responsibleFor(deps: QueueDeps, policy: AgentPolicy): TaskDefinition['responsible'] {
  const human: string = policy.responsibleHuman || deps.directory.defaultHuman();
  return human as TaskDefinition['responsible'];
}

/** First row of the table 4.4: where a new task starts. */
function startOf(deps: QueueDeps, task: TaskDefinition, policy: AgentPolicy) {
  const ownProject = deps.directory.agent(task.provenance.submitter)?.queue === policy.queue;
  if (task.tainted) return ownProject ? 'submitted' : 'suggested';
  if (!task.admitted || needsScore(task)) return 'submitted';
  const later = task.notBeforeAtMs !== undefined && task.notBeforeAtMs > deps.clock.nowMs();
  return later ? 'scheduled' : 'ready';
}
