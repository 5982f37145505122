import { MeshError } from '../fabric/domain/errors.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { TaskLog } from '../fabric/ports/task-board.ts';
import type { z } from 'zod';
import type { MeshConnection } from './mesh-connection.ts';
import { rpc } from './rpc.ts';

/** How a task is written for people: as many digits as name it in any but the largest mesh. */
export const shortId = (taskId: string): string => taskId.slice(0, 8);

/**
 * The log of the task that `ref` names: an id, 6 or more of its first digits, or the board's own name.
 * @throws MeshError `NOT_FOUND`
 */
export async function taskNamed({ board }: MeshConnection, ref: string): Promise<TaskLog> {
  const uid = await board.resolve(ref);
  const log = uid === undefined ? undefined : await board.read(uid);
  if (log !== undefined) return log;
  throw new MeshError(
    'NOT_FOUND',
    `No one task is named "${ref}". Give 6 or more of its first digits, as \`mesh tasks --all\` shows them.`,
    { path: 'task' },
  );
}

export interface TaskCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/**
 * A call about one task, to the agent that has it; where that is not served any more, to the front's
 * router, which answers for every task.
 */
export async function taskRpc<T>(
  mesh: MeshConnection,
  { agentId }: Pick<TaskState, 'agentId'>,
  call: TaskCall,
  schema: z.ZodType<T>,
): Promise<T> {
  if (agentId === undefined) return rpc(mesh, call, schema);
  try {
    return await rpc(mesh, { agentId, ...call }, schema);
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'NOT_FOUND') throw error;
    return rpc(mesh, call, schema);
  }
}
