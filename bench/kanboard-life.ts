import { AgentId, PrincipalId, QueueId, type TaskId } from '../fabric/domain/ids.ts';
import { scopes, type Principal } from '../fabric/domain/principal.ts';
import type { RunEnd } from '../fabric/ports/run-task.ts';
import { claimTask, startRun, type Held } from '../fabric/queue/claim.ts';
import { finishRun } from '../fabric/queue/finish.ts';
import { createSlots } from '../fabric/queue/slots.ts';
import { submitTask } from '../fabric/queue/submit.ts';
import { verifyTask } from '../fabric/queue/verify.ts';
import { startWorker } from '../fabric/queue/worker.ts';
import { systemRandom } from '../fabric/telemetry/system-random.ts';
import { agentId, type BenchHost, type Spent } from './kanboard-host.ts';

const principal: Principal = {
  ...{ id: PrincipalId.parse('alvis'), role: 'human', trust: 'human' },
  scopes: new Set(scopes),
};
const incarnation = systemRandom.hex(8);
const done: RunEnd = { kind: 'done', outcome: { summary: 'All is in order.', artifacts: [] } };

export async function submitOne({ deps }: BenchHost): Promise<TaskId> {
  const { state } = await submitTask(deps, {
    ...{ principal, mode: 'async', verification: 'submitter', priority: 1 },
    target: { kind: 'agent', agentId: AgentId.parse(agentId) },
    idempotencyKey: systemRandom.hex(8),
    intent: { title: 'Audit the log', body: 'Read the log of last night. '.repeat(10) },
  });
  return state.taskId;
}

export async function claimOne({ deps }: BenchHost, uid: TaskId): Promise<Held> {
  const [policy] = deps.directory.agents();
  const held = await claimTask(deps, uid, { policy: policy!, incarnation });
  if (held === undefined) throw new Error(`task ${uid} of the bench could not be claimed`);
  return startRun(deps, held);
}

/** The head of the queue as a worker sees it. */
export const headOf = ({ board, deps }: BenchHost, count: number): Promise<readonly TaskId[]> =>
  board.list(QueueId.parse(agentId), deps.clock.nowMs(), count);

/** The steps of a task's life, each with what it asked of Kanboard, showing it to people included. */
export async function spentByStep(host: BenchHost): Promise<Readonly<Record<string, Spent>>> {
  const { deps, board } = host;
  let uid: TaskId | undefined;
  let held: Held | undefined;
  return {
    submit: await host.spentOn(async () => (uid = await submitOne(host))),
    'claim and start': await host.spentOn(async () => (held = await claimOne(host, uid!))),
    beat: await host.spentOn(() => board.beat(uid!, held!.fence)),
    finish: await host.spentOn(() => finishRun(deps, held!, done)),
    verify: await host.spentOn(() =>
      verifyTask(deps, { principal, uid: uid!, verdict: 'verified' }),
    ),
  };
}

/** From submit to verified and shown, `lanes` at a time; whole tasks a second. */
export async function tasksPerSecond(
  host: BenchHost,
  lanes: number,
  tasks: number,
): Promise<number> {
  const startedMs = performance.now();
  let left = tasks;
  const lane = async () => {
    while (left-- > 0) {
      const uid = await submitOne(host);
      const held = await claimOne(host, uid);
      await finishRun(host.deps, held, done);
      await verifyTask(host.deps, { principal, uid, verdict: 'verified' });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  await host.board.parts.display.settled();
  return (tasks * 1_000) / (performance.now() - startedMs);
}

/** Claims with their starts, `workers` at a time; a second. */
export async function claimsPerSecond(
  host: BenchHost,
  workers: number,
  claims: number,
): Promise<number> {
  const uids = [...(await headOf(host, claims))];
  const startedMs = performance.now();
  const worker = async () => {
    for (let uid = uids.pop(); uid !== undefined; uid = uids.pop()) await claimOne(host, uid);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  const tookMs = performance.now() - startedMs;
  await host.board.parts.display.settled();
  return (claims * 1_000) / tookMs;
}

/** Ms of taking the head of the queue, each time with what shows it out of the way. */
export async function claimMs(host: BenchHost, times: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedMs = performance.now();
    const [uid] = await headOf(host, 1);
    await claimOne(host, uid!);
    took.push(performance.now() - startedMs);
    await host.board.parts.display.settled();
  }
  return took;
}

/** Ms from the call of submit on one host to the run on another, by the webhook's hint or by its poll. */
export async function submitToStartMs(
  from: BenchHost,
  to: BenchHost,
  { by, times }: { by: 'hook' | 'poll'; times: number },
): Promise<number[]> {
  const running = startsSeen();
  to.board.start();
  const worker = startWorker(to.deps, {
    ...{ agentId, incarnation, slots: createSlots() },
    availability: { at: () => ({ a: 1, reasons: [] }) },
    runTask: ({ state }) => {
      running.saw(state.taskId);
      return Promise.resolve(done);
    },
  });
  const took: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedMs = performance.now();
    const uid = await submitOne(from);
    if (by === 'hook') to.board.parts.poll.wake();
    await running.once(uid);
    took.push(performance.now() - startedMs);
    await Promise.all([from, to].map(({ board }) => board.parts.display.settled()));
  }
  await worker.leave();
  return took;
}

function startsSeen() {
  const seen = new Set<TaskId>();
  let look = (): void => undefined;
  return {
    saw(uid: TaskId): void {
      seen.add(uid);
      look();
    },
    once: (uid: TaskId): Promise<void> =>
      new Promise((resolve) => {
        look = () => {
          if (seen.has(uid)) resolve();
        };
        look();
      }),
  };
}
