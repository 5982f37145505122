import type { Author } from '../domain/events.ts';
import { Fence, PrincipalId, type TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { transition } from '../domain/transition.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import type { Durability } from '../ports/task-board.ts';
import { appended, change, eventOf } from './change.ts';
import type { LogWriterDeps } from './deps.ts';

/** A task that this process holds; `fence` is the version of its claim. */
export interface Held {
  readonly uid: TaskId;
  readonly fence: Fence;
  readonly by: Author;
  readonly leaseMs: number;
  /** When the claim was asked for, on both clocks: the lease runs from here, never from the answer. */
  readonly claimedAtMs: number;
  readonly claimedMonotonicMs: number;
  readonly state: TaskState;
}

export interface ClaimOptions {
  readonly policy: Pick<AgentPolicy, 'agentId' | 'leaseMs'>;
  readonly incarnation: string;
  /** One event for claim and start, where nothing lies between. */
  readonly startNow?: boolean;
  readonly durability?: Durability;
}

/**
 * Tries once to claim a task for an agent. Undefined when it is not claimable or somebody was
 * faster: go on with another. The slot decides, not what `list` said.
 */
export async function claimTask(
  deps: LogWriterDeps,
  uid: TaskId,
  { policy, incarnation, startNow = false, durability = 'committed' }: ClaimOptions,
): Promise<Held | undefined> {
  // What is known here will do: were it old, the slot would be taken.
  const log = (await deps.board.known(uid)) ?? (await deps.board.read(uid));
  if (log === undefined) return undefined;
  const by: Author = { id: PrincipalId.parse(policy.agentId), role: 'agent' };
  const [claimedAtMs, claimedMonotonicMs] = [deps.clock.nowMs(), deps.clock.monotonicMs()];
  const event = eventOf(deps, by, 'claimed', {
    holder: by.id,
    incarnation,
    leaseMs: policy.leaseMs,
    ...(startNow ? { attempt: log.state.attempts + 1 } : {}),
  });
  const next = transition(log.state, event);
  if (!next.ok) return undefined;
  if (!(await appended(deps, uid, log.state.version + 1, event, durability))) return undefined;
  const fence = Fence.parse(next.state.version);
  deps.log.info('task.claimed', { taskId: uid, agent: policy.agentId, fence });
  return {
    uid,
    fence,
    by,
    leaseMs: policy.leaseMs,
    claimedAtMs,
    claimedMonotonicMs,
    state: next.state,
  };
}

/**
 * Counts the attempt before anything is spawned. Where a person took the claim back before it began, it
 * obeys instead: then the state it gives back holds no claim.
 * @throws RefusedError `LEASE_LOST` when it was taken over meanwhile
 */
export async function startRun(deps: LogWriterDeps, held: Held): Promise<Held> {
  const { by, fence } = held;
  const state = await change(deps, held.uid, (log) =>
    log.state.revokeTo === undefined
      ? eventOf(deps, by, 'started', { fence, attempt: log.state.attempts + 1 })
      : eventOf(deps, by, 'revoked', { fence }),
  );
  return { ...held, state };
}

/** Hands a claim back; a run that had started gives its attempt back (external: a person looks). */
export async function releaseTask(
  deps: LogWriterDeps,
  held: Held,
  reason: string,
): Promise<TaskState> {
  return change(deps, held.uid, () =>
    eventOf(deps, held.by, 'released', { fence: held.fence, reason }),
  );
}
