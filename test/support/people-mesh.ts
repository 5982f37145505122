import { vi } from 'vitest';
import { AgentId, QueueId, type TaskId } from '../../fabric/domain/ids.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { BoardProject } from '../../fabric/kanboard/board-projects.ts';
import { uidOf } from '../../fabric/kanboard/board-tasks.ts';
import type { KanboardBoard } from '../../fabric/kanboard/kanboard-board.ts';
import { BoardTask, TaskTags } from '../../fabric/kanboard/kanboard-rows.ts';
import { watchPeople } from '../../fabric/people/watch-people.ts';
import { ThreadComments } from '../../fabric/people/said-once.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { asApplication } from './board-people.ts';
import { openTestBoard } from './kanboard-board.ts';
import { policyOf } from './queue-mesh.ts';
import { recordingLog } from './recording-log.ts';
import type { RunningKanboard } from './services/kanboard.ts';

/** Waits for a state that several processes bring about. */
export const until = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 20_000, interval: 40 });

/** One process of a mesh: its board, its use cases, and how many acts it has taken in. */
interface PeopleProcess {
  readonly deps: QueueDeps & { readonly board: KanboardBoard };
  /** Acts on a board task that its watcher has taken in. */
  taken(boardTaskId: number): number;
  stop(): Promise<void>;
}

/** Processes of one mesh that watch what people do on one Kanboard, each with a mirror of its own. */
export interface PeopleMesh {
  readonly first: PeopleProcess;
  project(queue: string): Promise<BoardProject>;
  row(boardTaskId: number): Promise<BoardTask>;
  tags(boardTaskId: number): Promise<readonly string[]>;
  /** What the mesh said there, without what comments end with. */
  said(boardTaskId: number): Promise<readonly string[]>;
  uid(boardTaskId: number): Promise<TaskId>;
  state(boardTaskId: number): Promise<TaskState>;
  kinds(boardTaskId: number): Promise<readonly TaskEvent['kind'][]>;
  /** Resolves once every process has taken in so many acts on a board task. */
  taken(boardTaskId: number, acts: number): Promise<void>;
  /** Has its agent claim a task and begin; `end` ends that run. */
  begin(boardTaskId: number): Promise<{ end(end: RunEnd): Promise<void> }>;
  stop(): Promise<void>;
}

/** The directory of the tests: adolf alone on its queue, two on a shared one, a router, two people. */
function directoryOf(): QueueDeps['directory'] {
  const human = { trust: 'human', runtime: 'human' } as const;
  const shared = QueueId.parse('shared');
  const policies = [
    { id: 'adolf' },
    { id: 'router', runtime: 'router' },
    { id: 'one', queue: shared },
    { id: 'two', queue: shared },
    { id: 'alvis', ...human },
    { id: 'berta', ...human },
  ].map(policyOf);
  return {
    agent: (id) => policies.find(({ agentId }) => (agentId as string) === id),
    agents: () => policies,
    defaultHuman: () => AgentId.parse('alvis'),
  };
}

async function openProcess(kanboard: RunningKanboard, boardId: string): Promise<PeopleProcess> {
  const opened = await openTestBoard(kanboard, { boardId, pollMs: 250 });
  const { board } = opened;
  const log = recordingLog();
  const artifacts = { put: () => Promise.resolve(''), get: () => Promise.resolve(undefined) };
  const deps = {
    ...{ board, log, artifacts, directory: directoryOf(), meshSecret: 'a secret' },
    ...{ clock: systemClock, random: systemRandom },
  };
  const counts = new Map<number, number>();
  const unwatch = watchPeople({ board, queue: deps, boardId });
  // Told after the watcher, so what it counts was taken in.
  board.parts.activity.onAct(({ row: { boardTaskId: id } }) =>
    Promise.resolve(void counts.set(id, (counts.get(id) ?? 0) + 1)),
  );
  board.start();
  return {
    deps,
    taken: (id) => counts.get(id) ?? 0,
    async stop() {
      await unwatch();
      await opened.close();
    },
  };
}

export async function openPeopleMesh(
  kanboard: RunningKanboard,
  boardId: string,
  count = 2,
): Promise<PeopleMesh> {
  const processes = await Promise.all(
    Array.from({ length: count }, () => openProcess(kanboard, boardId)),
  );
  const first = processes[0]!;
  const { deps } = first;
  const app = asApplication(kanboard);
  const row = async (task_id: number) => BoardTask.parse(await app('getTask', { task_id }));
  const uid = async (id: number) => {
    const found = uidOf((await row(id)).reference);
    if (found === undefined) throw new Error(`Board task ${id} is not one of the mesh.`);
    return found;
  };
  const log = async (id: number) => (await deps.board.read(await uid(id)))!;
  return {
    ...{ first, row, uid },
    project: (queue) => deps.board.parts.projects.of(QueueId.parse(queue)),
    tags: async (task_id) => TaskTags.parse(await app('getTaskTags', { task_id })),
    async said(task_id) {
      const comments = ThreadComments.parse(await app('getAllComments', { task_id }));
      const own = comments.filter(({ userId }) => userId === 0);
      return own.map(({ text }) => text.replace(/\s*\[\/\/\]: # .*$/s, ''));
    },
    state: async (id) => (await log(id)).state,
    kinds: async (id) => (await log(id)).events.map(({ kind }) => kind),
    taken: (id, acts) =>
      until(() => {
        const counts = processes.map((one) => one.taken(id));
        if (counts.some((of) => of < acts)) throw new Error(`${counts.join(', ')} of ${acts}`);
      }),
    begin: async (id) => begin(deps, await uid(id)),
    async stop() {
      for (const one of processes) await one.stop();
    },
  };
}

async function begin(deps: QueueDeps, taskId: TaskId) {
  const policy = policyOf({ id: (await deps.board.read(taskId))?.state.agentId ?? 'adolf' });
  const held = await claimTask(deps, taskId, { policy, incarnation: 'a0a0', startNow: true });
  if (held === undefined) throw new Error(`Nobody could claim ${taskId}.`);
  return {
    async end(end: RunEnd) {
      const stopping = new AbortController().signal;
      const runTask = () => Promise.resolve(end);
      await runHeld(deps, held, { policy, runTask, interactive: false, stopping });
    },
  };
}
