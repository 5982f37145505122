import { z } from 'zod';
import type { BoardProject, ColumnRole } from '../../fabric/kanboard/board-projects.ts';
import { columnOf } from '../../fabric/kanboard/board-projects.ts';
import type { RunningKanboard } from './services/kanboard.ts';

type Params = Readonly<Record<string, unknown>>;

type Call = readonly [method: string, params: Params];

const Answers = z.array(
  z.looseObject({
    result: z.unknown(),
    error: z.looseObject({ message: z.string() }).optional(),
  }),
);

/** Calls with somebody's own credential, as their browser would make them; fails on `false` and `null`. */
async function callAs(
  { url }: Pick<RunningKanboard, 'url'>,
  [user, secret]: readonly [string, string],
  calls: readonly Call[],
): Promise<readonly unknown[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`,
    },
    body: JSON.stringify(
      calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })),
    ),
  });
  return Answers.parse(await response.json()).map(({ result, error }, at) => {
    if (!error && result) return result;
    throw new Error(`${calls[at]?.[0]} as ${user}: ${error?.message ?? String(result)}`);
  });
}

/** Somebody with a Kanboard account, and what their hands do in the browser. */
export interface BoardPerson {
  readonly userId: number;
  readonly username: string;
  /** Member of a project, which makes its tasks theirs to touch. */
  joins(project: BoardProject): Promise<void>;
  creates(project: BoardProject, task: Params & { readonly title: string }): Promise<number>;
  drags(project: BoardProject, boardTaskId: number, to: ColumnRole): Promise<void>;
  /** One comment after another, as fast as it goes. */
  comments(boardTaskId: number, ...contents: readonly string[]): Promise<void>;
  edits(boardTaskId: number, change: Params): Promise<void>;
  closes(boardTaskId: number): Promise<void>;
  reopens(boardTaskId: number): Promise<void>;
}

/** The application's own calls, to arrange what a person would find and to see what is shown. */
export const asApplication =
  (kanboard: Pick<RunningKanboard, 'url' | 'token'>) =>
  async (method: string, params: Params): Promise<unknown> =>
    (await callAs(kanboard, ['jsonrpc', kanboard.token], [[method, params]]))[0];

export async function boardPerson(
  kanboard: Pick<RunningKanboard, 'url' | 'token'>,
  username: string,
): Promise<BoardPerson> {
  const app = asApplication(kanboard);
  const secret = `secret of ${username}`;
  const userId = z.coerce.number().parse(await app('createUser', { username, password: secret }));
  const actAll = (calls: readonly Call[]) => callAs(kanboard, [username, secret], calls);
  const act = async (...one: Call) => (await actAll([one]))[0];
  return {
    userId,
    username,
    async joins({ projectId: project_id }) {
      await app('addProjectUser', { project_id, user_id: userId, role: 'project-member' });
    },
    async creates({ projectId: project_id }, task) {
      return z.coerce.number().parse(await act('createTask', { project_id, ...task }));
    },
    async drags(project, task_id, to) {
      const { swimlane_id } = z
        .looseObject({ swimlane_id: z.coerce.number() })
        .parse(await act('getTask', { task_id }));
      const place = { project_id: project.projectId, column_id: columnOf(project, to) };
      await act('moveTaskPosition', { ...place, task_id, position: 1, swimlane_id });
    },
    async comments(task_id, ...contents) {
      const said = { task_id, user_id: userId };
      await actAll(contents.map((content) => ['createComment', { ...said, content }]));
    },
    async edits(id, change) {
      await act('updateTask', { id, ...change });
    },
    async closes(task_id) {
      await act('closeTask', { task_id });
    },
    async reopens(task_id) {
      await act('openTask', { task_id });
    },
  };
}
