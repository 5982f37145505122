import { MeshError } from '../fabric/domain/errors.ts';
import { AgentId, QueueId, type TaskId } from '../fabric/domain/ids.ts';
import { parsedAs } from '../fabric/domain/parsed-as.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import { claimTask, type Held } from '../fabric/queue/claim.ts';
import type { LogWriterDeps } from '../fabric/queue/deps.ts';
import { pinoLog } from '../fabric/telemetry/pino-log.ts';
import { listAgents } from './agent-list.ts';
import type { MeshConnection } from './mesh-connection.ts';
import type { Session } from './session.ts';
import { didYouMean } from './text/did-you-mean.ts';
import { shortId, taskNamed } from './task-ref.ts';

/** What writes to task logs from a command: the mesh's board, this process's clock and chance. */
export const logWriterOf = (
  { clock, random }: Session,
  { board }: MeshConnection,
): LogWriterDeps => ({
  board,
  clock,
  random,
  log: pinoLog({ level: 'silent' }),
});

export interface TakeOptions {
  readonly agent: string;
  readonly queue?: string;
  /** How long nobody else takes it without a `renew`, in ms. */
  readonly lease: number;
}

/** Candidates looked at: those past it wait for a calmer moment. */
const mostCandidates = 64;

/**
 * Takes the best task that waits in the agent's queue and begins it. Undefined when there is none.
 * @throws MeshError `NOT_FOUND` for an agent the mesh does not know
 */
export async function takeBest(
  session: Session,
  mesh: MeshConnection,
  options: TakeOptions,
): Promise<Held | undefined> {
  const queue = options.queue ?? (await queueOf(session, mesh, options.agent));
  const nowMs = session.clock.nowMs();
  const uids = await mesh.board.list(parsedAs(QueueId, queue, 'queue'), nowMs, mostCandidates);
  for (const uid of uids) {
    const state = (await mesh.board.read(uid))?.state;
    const isAnothers = state?.agentId !== undefined && state.agentId !== options.agent;
    if (isAnothers || (state?.parked?.untilMs ?? 0) > nowMs) continue;
    const held = await take(session, mesh, uid, options);
    if (held) return held;
  }
  return undefined;
}

/** Takes one task and begins it in one event; undefined when it can't be taken now. */
export async function take(
  session: Session,
  mesh: MeshConnection,
  uid: TaskId,
  { agent, lease }: TakeOptions,
): Promise<Held | undefined> {
  return claimTask(logWriterOf(session, mesh), uid, {
    policy: { agentId: parsedAs(AgentId, agent, 'agent'), leaseMs: lease },
    // No process holds it: only its lease says whether somebody still works on it.
    incarnation: `cli-${session.random.hex(8)}`,
    startNow: true,
  });
}

async function queueOf(session: Session, mesh: MeshConnection, agent: string): Promise<string> {
  const agents = await listAgents(mesh, session.signal);
  const found = agents.find(({ agentId }) => agentId === agent);
  if (found) return found.queue;
  throw new MeshError(
    'NOT_FOUND',
    `No agent ${agent} is registered.${didYouMean(
      agent,
      agents.map(({ agentId }) => agentId),
    )} ` + 'See `mesh cards list`, or name a --queue.',
    { path: 'agent' },
  );
}

/** How a command says that it holds a task: the fence it was given, or the agent in whose name it acts. */
export interface HoldOptions {
  readonly fence?: number;
  readonly agent?: string;
}

/**
 * The claim that a command acts under, read back from the log.
 * @throws MeshError `LEASE_LOST` when it was claimed again or ended, `VALIDATION_ERROR` with neither
 *   fence nor agent
 */
export async function heldTask(
  { clock }: Session,
  mesh: MeshConnection,
  ref: string,
  { fence, agent }: HoldOptions,
): Promise<Held> {
  if (fence === undefined && agent === undefined) {
    throw new MeshError(
      'VALIDATION_ERROR',
      'Say that you hold it: --fence with the number that `next` or `take` gave, or --agent.',
      { path: 'fence' },
    );
  }
  const { uid, state } = await taskNamed(mesh, ref);
  const { claim } = state;
  if (claim === undefined || (fence !== undefined && claim.fence !== fence)) {
    throw lost(state, fence);
  }
  if (agent !== undefined && claim.holder !== agent) {
    throw new MeshError(
      'LEASE_LOST',
      `Task ${shortId(uid)} is held by ${claim.holder}, not by ${agent}. Stop and discard this run.`,
      { taskId: uid },
    );
  }
  return {
    uid,
    fence: claim.fence,
    by: { id: claim.holder, role: 'agent' },
    leaseMs: claim.leaseMs,
    claimedAtMs: claim.claimedAtMs,
    claimedMonotonicMs: clock.monotonicMs() - Math.max(0, clock.nowMs() - claim.claimedAtMs),
    state,
  };
}

function lost({ taskId, claim, phase }: TaskState, fence: number | undefined): MeshError {
  const now = claim
    ? `it was claimed again, by ${claim.holder} with fence ${claim.fence}`
    : `nobody holds it, it is ${phase}`;
  const yours = fence === undefined ? '' : ` after fence ${fence}`;
  return new MeshError(
    'LEASE_LOST',
    `Task ${shortId(taskId)} is not yours${yours}: ${now}. Stop and discard this run.`,
    { taskId },
  );
}
