import { createHash } from 'node:crypto';
import { limits } from '../../fabric/domain/limits.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';
import { signCall, type PrivateJwk } from '../auth/sign.ts';
import { toRemoteTask, type RemoteTask } from './remote-task.ts';
import { exchange, refusedCall, type CallRefused, type RpcRequest } from './rpc-exchange.ts';
import { followTask } from './task-stream.ts';
import { WireTask } from './wire-task.ts';

export interface MeshCallerOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Where an agent is served; undefined: nowhere that this host knows. */
  urlOf(agentId: string): string | undefined;
  /** The key of an agent that lives on this host. */
  keyOf(agentId: string): PrivateJwk | undefined;
  readonly clock: Clock;
}

/** Who calls whom. `run` binds the call to a task and its claim: what it submits is that task's child. */
export interface CallPath {
  readonly from: string;
  readonly to: string;
  readonly run?: { readonly taskId: string; readonly fence: number };
}

export interface Sending extends CallPath {
  readonly text: string;
  /** Sent again with the same id, it names the same task. */
  readonly messageId: string;
  /** Until it rests; else the task is durable when this resolves. */
  readonly wait: boolean;
  readonly contextId?: string;
  /** More of the submit extension (`DESIGN.md` 6.2): `target` for a router, `acceptance`, … */
  readonly submit?: Readonly<Record<string, unknown>>;
}

export interface TaskPath extends CallPath {
  readonly taskId: string;
}

export type CallAnswer = { readonly ok: true; readonly task: RemoteTask } | CallRefused;

/** Calls of one agent to another: A2A 1.0, each signed by the caller's own key. Never rejects. */
export interface MeshCaller {
  send(call: Sending, signal: AbortSignal): Promise<CallAnswer>;
  get(call: TaskPath, signal: AbortSignal): Promise<CallAnswer>;
  /** Resolves when the task rests: ended, asking, or done and to be verified. */
  await(call: TaskPath, signal: AbortSignal): Promise<CallAnswer>;
}

const callTimeoutMs = 20_000;
const callTries = 3;
const mostPauseMs = 5_000;

/**
 * The messageId of a run's `ordinal`th child (from 0). The same for each attempt, so that a run that is
 * repeated after a crash names the children it has already made. `continuation` is how often the task went
 * on with an answer: what is asked for then is something else than before.
 */
export function childMessageId(parent: string, ordinal: number, continuation = 0): string {
  const named = continuation === 0 ? `${ordinal}` : `${continuation}-${ordinal}`;
  const digest = createHash('sha256').update(`${parent}|${named}`).digest('hex');
  return `child-${named}-${digest.slice(0, 24)}`;
}

export function meshCaller(options: MeshCallerOptions): MeshCaller {
  const call = async (
    path: CallPath,
    request: Pick<RpcRequest, 'method' | 'params' | 'timeoutMs'>,
    signal: AbortSignal,
  ): Promise<CallAnswer> => {
    const route = routeOf(options, path);
    if ('reason' in route) return route;
    const answer = await exchange(options, { ...route, ...request, tries: callTries }, signal);
    return answer.ok ? toAnswer(answer.result) : answer;
  };
  const get: MeshCaller['get'] = (path, signal) => {
    const params = { id: path.taskId, historyLength: 0 };
    return call(path, { method: 'GetTask', params, timeoutMs: callTimeoutMs }, signal);
  };
  return {
    get,
    send: (sending, signal) =>
      call(
        sending,
        {
          method: 'SendMessage',
          params: sendParams(sending),
          timeoutMs: sending.wait ? limits.waitMs + callTimeoutMs : callTimeoutMs,
        },
        signal,
      ),
    await: (path, signal) => awaitRest(options, path, get, signal),
  };
}

function routeOf(
  options: MeshCallerOptions,
  { from, to, run }: CallPath,
): Pick<RpcRequest, 'url' | 'token'> | CallRefused {
  const url = options.urlOf(to);
  if (url === undefined) {
    const why = `No address of ${to} is known here: no Card names it, or no front of the mesh runs beside ${from}`;
    return refusedCall('NO_ADDRESS', `${why} (start one: mesh up).`);
  }
  const { clock } = options;
  const privateJwk = options.keyOf(from);
  if (privateJwk === undefined) {
    const message = `${from} has no key on this host, so it can't call. Make one: mesh cards key ${from}.`;
    return refusedCall('NO_KEY', message);
  }
  const signing = { agentId: from, privateJwk, audience: to, clock, ...(run && { run }) };
  return { url, token: () => signCall(signing) };
}

function sendParams({ text, messageId, wait, contextId, submit }: Sending) {
  return {
    message: {
      messageId,
      role: 'ROLE_USER',
      parts: [{ text }],
      ...(contextId !== undefined && { contextId }),
      // What comes of a child is judged with its parent's result; a run's credential verifies nothing.
      metadata: { [extensionUris.submit]: { verification: 'none', ...submit } },
    },
    configuration: { returnImmediately: !wait },
  };
}

function toAnswer(result: unknown): CallAnswer {
  const inner =
    typeof result === 'object' && result !== null && 'task' in result ? result.task : result;
  const task = WireTask.safeParse(inner);
  if (task.success) return { ok: true, task: toRemoteTask(task.data) };
  return refusedCall('BAD_ANSWER', 'The agent answered with something that is no task.');
}

/** Listens to the task's stream; polls, slower each time, only where there is no stream to be had. */
async function awaitRest(
  options: MeshCallerOptions,
  path: TaskPath,
  get: MeshCaller['get'],
  signal: AbortSignal,
): Promise<CallAnswer> {
  for (let looks = 0; ; looks += 1) {
    const answer = await get(path, signal);
    if (!answer.ok || answer.task.isAtRest) return answer;
    const route = routeOf(options, path);
    if ('reason' in route) return route;
    const since = options.clock.monotonicMs();
    await followTask(options, { ...route, params: { id: path.taskId } }, signal);
    const heldMs = options.clock.monotonicMs() - since;
    if (heldMs < 1_000) {
      await options.clock.sleep(Math.min(mostPauseMs, 100 * 2 ** Math.min(looks, 6)), signal);
    }
  }
}
