import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { AgentId, PrincipalId, type TaskId } from '../../fabric/domain/ids.ts';
import { scopes, type Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { processLiveness } from '../../fabric/embedded/process-liveness.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { createSlots } from '../../fabric/queue/slots.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { startKeeper } from '../../keeper/keeper.ts';
import { builtProgram } from './built-program.ts';
import { crashCards } from './crash-cards.ts';
import type { CrashOrder } from './crash-order.ts';
import { crashRun } from './crash-run.ts';
import { recordingLog } from './recording-log.ts';
import { openPlacedBoard, type BoardPlace } from './stress/board-place.ts';

/** The person whose tasks the crash tests are about. */
export const owner: Principal = {
  id: PrincipalId.parse('alvis'),
  role: 'human',
  trust: 'human',
  scopes: new Set(scopes),
};

/** Starts a worker process that does as it is told; it is gone at the end of the test. */
export async function startCrashWorker(
  order: CrashOrder,
  program: 'crash-worker' | 'crash-keeper' = 'crash-worker',
): Promise<ChildProcess> {
  const args = [await builtProgram(program), JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** How it ended: the name of its signal, or its exit code. */
export async function endOfProcess(child: ChildProcess): Promise<string> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? String(code);
}

/** The home's board in this process, on its own database or on Kanboard, with what the use cases need. */
export async function openCrashHome(
  home: string,
  agentId: string,
  leaseMs: number,
  kanboard?: BoardPlace,
) {
  const log = recordingLog();
  const name = `mirror-${systemRandom.hex(4)}`;
  const board: TaskBoard = kanboard
    ? await openPlacedBoard(kanboard, { folder: home, name, log })
    : await openEmbeddedBoard({ path: join(home, 'mesh.db'), clock: systemClock, log });
  const deps: QueueDeps = {
    board,
    directory: crashCards(agentId, leaseMs),
    artifacts: { put: async () => '0'.repeat(64), get: async () => undefined },
    clock: systemClock,
    random: systemRandom,
    log,
    // Tasks of different tests on one Kanboard must not have one name.
    meshSecret: kanboard?.boardId ?? 'secret',
  };
  return { board, deps };
}

/** A task of `owner` for an agent, waiting in its queue. */
export async function submitCrashTask(
  deps: QueueDeps,
  agentId: string,
  title: string,
): Promise<TaskId> {
  const { state } = await submitTask(deps, {
    principal: owner,
    target: { kind: 'agent', agentId: AgentId.parse(agentId) },
    idempotencyKey: title,
    intent: { title, body: 'Do it.' },
    mode: 'async',
    verification: 'submitter',
    priority: 2,
  });
  return state.taskId;
}

/** Resolves with the first state of a task that is as wanted. */
export function stateOnce(
  board: TaskBoard,
  uid: TaskId,
  isWanted: (state: TaskState) => boolean,
): Promise<TaskState> {
  return new Promise((resolve, reject) => {
    const look = (state: TaskState | undefined) => {
      if (state === undefined || !isWanted(state)) return;
      unwatch();
      resolve(state);
    };
    const unwatch = board.watch((changed, state) => {
      if (changed === uid) look(state);
    });
    board.read(uid).then((log) => {
      look(log?.state);
    }, reject);
  });
}

/** A new process's worth of worker and keeper over the board, in this one. */
export async function startSuccessor(
  deps: QueueDeps,
  {
    home,
    agentId,
    incarnation,
    workMs,
  }: Pick<CrashOrder, 'home' | 'agentId' | 'incarnation' | 'workMs'>,
): Promise<() => Promise<void>> {
  const folder = join(home, 'procs');
  const liveness = await processLiveness({ folder, incarnation, clock: deps.clock });
  const worker = startWorker(deps, {
    agentId,
    runTask: crashRun({ home, workMs, dieAt: () => undefined }),
    slots: createSlots(),
    availability: { at: () => ({ a: 1, reasons: [] }) },
    incarnation,
    pollMs: 100,
  });
  const keeper = startKeeper(deps, { liveness, leaseSweepMs: 200, slowSweepMs: 500 });
  return async () => {
    await Promise.all([worker.stop(), keeper.stop()]);
    liveness.release();
  };
}
