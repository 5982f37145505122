import { AgentId, PrincipalId, QueueId, type TaskId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal, type Scope } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { manualClock, type ManualClock } from './manual-clock.ts';
import { memoryBoard } from './memory-board.ts';
import { recordingLog } from './recording-log.ts';
import { seededRandom } from './seeded-random.ts';

type PolicyChange = Partial<AgentPolicy> & { readonly id: string };

/** The policy of an ordinary agent, but for what is said otherwise. */
export function policyOf({ id, ...change }: PolicyChange): AgentPolicy {
  return {
    ...{ agentId: AgentId.parse(id), name: id, queue: QueueId.parse(id), runtime: 'model' },
    ...{ concurrency: 2, leaseMs: 120_000, runTimeoutMs: 60_000, asyncOnly: false },
    ...{ trust: 'trusted', effects: 'none', cost: 'free-local', verification: 'submitter' },
    ...{ admit: ['human', 'trusted'], mayCall: ['*'], responsibleHuman: AgentId.parse('alvis') },
    ...{ createdPerHour: 1_000, commit: 'c0ffee' },
    ...change,
  };
}

export const person = (id: string, has: readonly Scope[] = scopes): Principal => ({
  ...{ id: PrincipalId.parse(id), role: 'human', trust: 'human' },
  scopes: new Set(has.filter((scope) => scope !== 'admin' && scope !== 'tasks:read-all')),
});

export const agentCaller = (id: string, change: Partial<Principal> = {}): Principal => ({
  ...{ id: PrincipalId.parse(id), role: 'agent', trust: 'trusted' },
  scopes: new Set<Scope>(['tasks:submit', 'tasks:read', 'tasks:answer', 'tasks:cancel']),
  ...change,
});

export interface QueueMesh {
  readonly deps: QueueDeps;
  /** Submits by alvis to adolf, unless said otherwise. */
  submit(change?: Partial<SubmitRequest>): Promise<TaskState>;
  /** Claims the task for its agent, or the named one, and runs it to `end`. */
  run(uid: TaskId, end: RunEnd, agentId?: string): Promise<TaskState>;
  stateOf(uid: TaskId): Promise<TaskState>;
  reload(change: PolicyChange): void;
}

export interface MemoryQueueMesh extends QueueMesh {
  readonly clock: ManualClock;
}

/** The use cases of the queue over a board in memory; adolf and a router are always there. */
export function queueMesh(...agents: readonly PolicyChange[]): MemoryQueueMesh {
  const clock = manualClock();
  const random = seededRandom(7);
  const board = memoryBoard({ clock, random });
  return { ...queueMeshOn({ board, clock, random, log: recordingLog() }, ...agents), clock };
}

/** The same over a board of the test's own. */
export function queueMeshOn(
  ground: Pick<QueueDeps, 'board' | 'clock' | 'random' | 'log'> & Partial<QueueDeps>,
  ...agents: readonly PolicyChange[]
): QueueMesh {
  const policies = new Map<string, AgentPolicy>();
  const reload = (change: PolicyChange) => {
    policies.set(change.id, { ...policyOf(change), ...policies.get(change.id), ...change });
  };
  for (const one of [{ id: 'adolf' }, { id: 'router', runtime: 'router' }, ...agents]) reload(one);
  const artifacts = { put: () => Promise.resolve(''), get: () => Promise.resolve(undefined) };
  const directory = {
    agent: (id: string) => policies.get(id),
    agents: () => [...policies.values()],
    defaultHuman: () => AgentId.parse('alvis'),
  };
  const deps: QueueDeps = { directory, artifacts, meshSecret: 'a secret', ...ground };
  const stateOf = async (uid: TaskId) => (await deps.board.read(uid))!.state;
  let keys = 0;
  return {
    ...{ deps, stateOf, reload },
    async submit(change = {}) {
      keys += 1;
      const { state } = await submitTask(deps, {
        ...{ principal: person('alvis'), idempotencyKey: `key-${keys}`, mode: 'async' },
        target: { kind: 'agent', agentId: AgentId.parse('adolf') },
        intent: { title: 'Audit', body: 'Audit the log.' },
        verification: 'submitter',
        ...change,
      });
      return state;
    },
    async run(uid, end, agentId) {
      const policy = policies.get(agentId ?? (await stateOf(uid)).agentId ?? '')!;
      const held = await claimTask(deps, uid, { policy, incarnation: 'test', startNow: true });
      if (held === undefined) throw new Error(`${policy.agentId} could not claim ${uid}.`);
      const stopping = new AbortController().signal;
      const runTask = () => Promise.resolve(end);
      await runHeld(deps, held, { policy, runTask, interactive: false, stopping });
      return stateOf(uid);
    },
  };
}
