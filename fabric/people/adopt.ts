import { PrincipalId, type TaskId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import { Priority, Score, type Target } from '../domain/task.ts';
import type { Directory } from '../ports/directory.ts';
import type { BoardProject } from '../kanboard/board-projects.ts';
import { referenceOf } from '../kanboard/board-tasks.ts';
import type { KanboardBoard } from '../kanboard/kanboard-board.ts';
import { BoardTask, call, resultOf } from '../kanboard/kanboard-rows.ts';
import type { QueueDeps } from '../queue/deps.ts';
import type { SubmitRequest } from '../queue/submit-request.ts';
import { checkedSubmit, submitTask, taskIdOf } from '../queue/submit.ts';
import { personCalled, refusalOf } from './person.ts';
import { badScore } from './plan-edit.ts';

export interface AdoptDeps {
  readonly board: KanboardBoard;
  readonly queue: QueueDeps;
  readonly boardId: string;
}

/** A task that a person made on the board, and in which queue. */
export interface Found {
  readonly project: BoardProject;
  readonly row: BoardTask;
}

/**
 * Makes a task of a board task that somebody put into Ready: submitted by them, under a key that names the
 * board task, so that whoever adopts it makes the same task. Its reference is set before its log begins: one that
 * dies in between leaves a board task that names its log, by which the next look finds it. Returns why not,
 * for people; undefined when it is done, or was done before.
 * @throws BoardUnavailableError when nothing is certain; trying again is harmless
 */
export async function adopt(
  deps: AdoptDeps,
  { project, row }: Found,
  principal: Principal,
): Promise<string | undefined> {
  const { board, queue } = deps;
  if (row.reference !== '' && !row.reference.startsWith('mesh:')) return takenReference(row);
  const target = targetOf(queue.directory, project);
  if ('why' in target) return target.why;
  const request = requestOf(deps, { project, row }, principal, target);
  if (typeof request === 'string') return request;
  const uid = taskIdOf(queue, request);
  const reference = referenceOf(uid);
  const isKnown = (await board.read(uid)) !== undefined;
  try {
    if (!isKnown) await checkedSubmit(queue, request);
    if (row.reference !== reference) await refer(board, row, reference);
    board.parts.tasks.remember(uid, { ...row, reference });
    if (isKnown) return undefined;
    await submitTask(queue, request);
    return undefined;
  } catch (error) {
    const why = refusalOf(error);
    if (why === undefined) throw error;
    board.parts.tasks.forget(uid);
    if ((await board.read(uid)) === undefined) await refer(board, row, '');
    return `${why} Then drag it to Ready again.`;
  }
}

/** Whose adoption of this board task would have that id: of one that was begun and not ended. */
export function adopterOf(
  { queue, boardId }: AdoptDeps,
  { project, row }: Found,
  uid: TaskId,
): Principal | undefined {
  const target = targetOf(queue.directory, project);
  if ('why' in target) return undefined;
  const key = { target, idempotencyKey: keyOf(boardId, row) };
  const humans = queue.directory.agents().filter(({ trust }) => trust === 'human');
  const id = humans
    .map(({ agentId }) => PrincipalId.parse(agentId))
    .find((human) => taskIdOf(queue, { ...key, principal: personLike(human) }) === uid);
  const person = id && personCalled(queue.directory, id);
  return person && 'scopes' in person ? person : undefined;
}

const personLike = (id: PrincipalId): Principal => ({
  ...{ id, role: 'human', trust: 'human', scopes: new Set() },
});

const keyOf = (boardId: string, { projectId, boardTaskId }: BoardTask): string =>
  `kanboard:${boardId}:${projectId}/${boardTaskId}`;

/** The one agent of the queue; whom the router chooses, where there are several. */
function targetOf(
  directory: Directory,
  { queue }: BoardProject,
): Target | { readonly why: string } {
  const agents = directory.agents().filter((agent) => agent.queue === queue);
  const [only, ...others] = agents;
  if (only && others.length === 0 && only.runtime !== 'router') {
    return { kind: 'agent', agentId: only.agentId };
  }
  if (directory.agents().some(({ runtime }) => runtime === 'router')) return { kind: 'auto' };
  return {
    why:
      agents.length === 0
        ? `No agent works on the queue ${queue}. Move it to the project of one that does.`
        : `Several agents work on the queue ${queue} and no router chooses among them. Submit it to one ` +
          'by name: `mesh submit`.',
  };
}

function requestOf(
  { boardId }: AdoptDeps,
  { row }: Found,
  principal: Principal,
  target: Target,
): SubmitRequest | string {
  const score = Score.safeParse(row.score).data;
  if (score === undefined) return `${badScore} Then drag it to Ready again.`;
  const title = row.title.slice(0, 200).toWellFormed();
  // What does not fit into a title is not lost.
  const body = title === row.title ? row.description : `${row.title}\n\n${row.description}`;
  return {
    principal,
    target,
    idempotencyKey: keyOf(boardId, row),
    intent: { title, body: body.toWellFormed() },
    mode: 'async',
    priority: Priority.safeParse(row.priority).data ?? 0,
    score,
    ...(row.dueAtMs > 0 ? { deadlineAtMs: row.dueAtMs } : {}),
    verification: 'submitter',
  };
}

async function refer(board: KanboardBoard, row: BoardTask, reference: string): Promise<void> {
  const task_id = row.boardTaskId;
  const [, after] = await board.parts.rpc.batch([
    call('updateTask', { id: task_id, reference }),
    call('getTask', { task_id }),
  ]);
  const there = resultOf(after, BoardTask, 'the reference of a board task');
  if (there.reference !== reference) throw new Error('Kanboard did not keep a reference.');
}

const takenReference = ({ reference }: BoardTask): string =>
  `Its field Reference says "${reference.slice(0, 100)}", and the mesh needs that field. Move it into the ` +
  'description, then drag the task to Ready again.';
