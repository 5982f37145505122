import { z } from 'zod';
import { humanRuntime } from '../../agents/runtimes/human.ts';
import type { Card } from '../../cards/schema/card.ts';
import { AgentId, QueueId, type TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { BoardProject } from '../../fabric/kanboard/board-projects.ts';
import { keepInboxes } from '../../fabric/people/inbox/keep-inboxes.ts';
import type { KanboardBoard } from '../../fabric/kanboard/kanboard-board.ts';
import { BoardTask } from '../../fabric/kanboard/kanboard-rows.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { RunEnd, RunTask } from '../../fabric/ports/run-task.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { asApplication } from './board-people.ts';
import { newBoardId, openTestBoard, type TestBoard } from './kanboard-board.ts';
import { person, policyOf } from './queue-mesh.ts';
import { recordingLog, type LogLine } from './recording-log.ts';
import type { RunningKanboard } from './services/kanboard.ts';

const humanPolicy = (id: string): AgentPolicy =>
  policyOf({ id, runtime: 'human', trust: 'human', asyncOnly: true });

/** Adolf works; alvis and bea are people, each with a queue of their own. */
const policies = [policyOf({ id: 'adolf' }), humanPolicy('alvis'), humanPolicy('bea')];
const directory: QueueDeps['directory'] = {
  agent: (id) => policies.find(({ agentId }) => (agentId as string) === id),
  agents: () => policies,
  defaultHuman: () => AgentId.parse('alvis'),
};

/** One process of a mesh on a Kanboard that keeps people's inboxes there. */
export interface InboxMesh {
  readonly queue: QueueDeps;
  readonly log: { readonly lines: readonly LogLine[] };
  /** Submits by alvis to adolf, unless said otherwise. */
  submit(change?: Partial<SubmitRequest>): Promise<TaskState>;
  /** Runs a ready task to `end` as its agent would; a person's by their own runtime. */
  run(uid: TaskId, end?: RunEnd): Promise<TaskState>;
  stateOf(uid: TaskId): Promise<TaskState>;
  inboxOf(human: string): Promise<BoardProject>;
  /** Resolves when it has looked at the board once more and taken in what people did. */
  hears(): Promise<void>;
  close(): Promise<void>;
}

interface InboxMeshOptions {
  readonly boardId: string;
  readonly pollMs: number;
  /** Of the inboxes; the board goes by the system's. */
  readonly clock: Clock;
}

export async function inboxMesh(
  kanboard: RunningKanboard,
  { boardId = newBoardId(), pollMs = 250, clock = systemClock }: Partial<InboxMeshOptions> = {},
): Promise<InboxMesh> {
  const log = recordingLog();
  const people = new Set(['alvis', 'bea']);
  const layoutOf = (queue: string) => (people.has(queue) ? 'inbox' : 'queue');
  const opened: TestBoard = await openTestBoard(kanboard, { boardId, log, layoutOf, pollMs });
  const { board } = opened;
  const artifacts = { put: () => Promise.resolve('0'), get: () => Promise.resolve(undefined) };
  const queue: QueueDeps = {
    ...{ board, directory, artifacts, clock, random: systemRandom, log },
    meshSecret: boardId,
  };
  const stop = keepInboxes({ board, queue, boardId });
  board.parts.poll.start();
  const stateOf = async (uid: TaskId) => (await board.read(uid))!.state;
  return {
    ...{ queue, log, stateOf },
    inboxOf: (human) => board.parts.projects.of(QueueId.parse(human)),
    submit: (change) => submit(queue, change),
    async run(uid, end) {
      const policy = directory.agent((await stateOf(uid)).agentId ?? '')!;
      const runTask: RunTask = end
        ? () => Promise.resolve(end)
        : humanRuntime({ id: policy.agentId, name: policy.name } as Card);
      const held = await claimTask(queue, uid, { policy, incarnation: 'test', startNow: true });
      if (held === undefined) throw new Error(`${policy.agentId} could not claim ${uid}.`);
      const stopping = new AbortController().signal;
      await runHeld(queue, held, { policy, runTask, interactive: false, stopping });
      return stateOf(uid);
    },
    async hears() {
      for (let looks = 0; looks < 2; looks++) {
        await nextLook(board);
        await board.parts.activity.settled();
      }
    },
    async close() {
      await stop();
      await opened.close();
    },
  };
}

const nextLook = ({ parts }: KanboardBoard) =>
  new Promise<void>((resolve) => {
    const end = parts.poll.onRows(async () => {
      end();
      await Promise.resolve();
      resolve();
    });
  });

let keys = 0;

async function submit(queue: QueueDeps, change: Partial<SubmitRequest> = {}): Promise<TaskState> {
  keys += 1;
  const { state } = await submitTask(queue, {
    ...{ principal: person('alvis'), idempotencyKey: `key-${keys}`, mode: 'async' },
    target: { kind: 'agent', agentId: AgentId.parse('adolf') },
    intent: { title: `Audit ${keys}`, body: 'Audit the log.' },
    verification: 'submitter',
    ...change,
  });
  return state;
}

export const toAgent = (id: string): Pick<SubmitRequest, 'target'> => ({
  target: { kind: 'agent', agentId: AgentId.parse(id) },
});

export const gate: RunEnd = {
  kind: 'asked',
  question: {
    text: 'Delete the old log?',
    options: ['approve', 'reject'],
    to: 'human',
    kind: 'gate',
  },
};
export const openQuestion: RunEnd = {
  kind: 'asked',
  question: { text: 'Which log?', options: [], to: 'human', kind: 'question' },
};
export const done: RunEnd = { kind: 'done', outcome: { summary: 'Three risks.', artifacts: [] } };

const Rows = z.array(BoardTask);
const Comments = z.array(z.looseObject({ comment: z.string() }));
const Links = z.array(z.looseObject({ label: z.string(), title: z.string() }));

/** What a task has in somebody's inbox, open or closed, as Kanboard has it; the task itself too. */
export async function itemsOf(kanboard: RunningKanboard, { projectId }: BoardProject, uid: TaskId) {
  const found = await calls(kanboard, 'searchTasks', { project_id: projectId, query: '' });
  return Rows.parse(found).filter(({ reference }) => reference.includes(uid));
}

export async function commentsOn(kanboard: RunningKanboard, task_id: number) {
  const found = await calls(kanboard, 'getAllComments', { task_id });
  return Comments.parse(found).map(({ comment }) => comment);
}

export async function linksOf(kanboard: RunningKanboard, task_id: number) {
  const found = await calls(kanboard, 'getAllTaskLinks', { task_id });
  return Links.parse(found).map(({ label, title }) => ({ label, title }));
}

const calls = (kanboard: RunningKanboard, method: string, params: Record<string, unknown>) =>
  asApplication(kanboard)(method, params);
