import { z } from 'zod';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { WireLog } from '../../fabric/remote/board-protocol.ts';
import { message, rpc, taskOf } from './edge-calls.ts';
import type { MeshProcess } from './mesh-process.ts';

type Reachable = Pick<MeshProcess, 'url' | 'token'>;

/** One call to the front's board, as `token` or the operator. */
export async function board(
  { url, token }: Reachable,
  call: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const response = await fetch(`${url}/board`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(call),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return z.object({ result: z.unknown() }).parse(await response.json()).result;
}

/** A task's log. @throws {Error} for one that is not shown */
export async function taskEvents(mesh: Reachable, uid: string): Promise<readonly TaskEvent[]> {
  return WireLog.parse(await board(mesh, { op: 'read', uid })).events;
}

/** Where a task stands, folded here from its log. @throws {Error} for one that is not shown */
export async function taskState(mesh: Reachable, uid: string): Promise<TaskState> {
  const state = fold(await taskEvents(mesh, uid));
  if (state === undefined) throw new Error(`task ${uid} has no events`);
  return state;
}

const Page = z.object({ logs: z.array(WireLog), total: z.int() });

/** What the board finds for a query. */
export async function findTasks(
  mesh: Reachable,
  query: Readonly<Record<string, unknown>>,
): Promise<TaskState[]> {
  const page = Page.parse(await board(mesh, { op: 'find', query: { limit: 100, ...query } }));
  return page.logs.flatMap(({ events }) => fold(events) ?? []);
}

/** Puts a task on the board without waiting for it and returns its id. */
export async function submit(
  { url, token }: Reachable,
  agentId: string,
  text: string,
  extension: object = {},
): Promise<string> {
  const params = {
    message: message(text, {}, extension),
    configuration: { returnImmediately: true },
  };
  return taskOf(await rpc(`${url}/agents/${agentId}/`, 'SendMessage', params, { token })).id;
}
