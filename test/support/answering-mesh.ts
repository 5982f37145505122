import type { WireTask } from '../../agents/calls/wire-task.ts';
import type { MeshConnection } from '../../cli/mesh-connection.ts';
import { MeshError } from '../../fabric/domain/errors.ts';

/** What a front answers to one JSON-RPC request. */
export type Answer = (body: { method: string }, init: RequestInit) => Response | Promise<Response>;

/** A connection whose front is `answer`. */
export function meshOf(answer: Answer, inProcess = false): MeshConnection {
  return {
    home: '/h',
    url: 'http://front.test',
    token: 't',
    principal: 'alvis',
    fetch: async (_url, init = {}) =>
      answer(JSON.parse(init.body as string) as { method: string }, init),
    board: undefined as unknown as MeshConnection['board'],
    inProcess,
    close: async () => {},
  };
}

/** HTTP, JSON-RPC success and JSON-RPC error answers. */
export const json = (body: unknown, status = 200): Response => Response.json(body, { status });
export const result = (value: unknown): Response => json({ jsonrpc: '2.0', id: 1, result: value });
export const failed = (code: number, message: string, data?: unknown): Response =>
  json({
    jsonrpc: '2.0',
    id: 1,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });

/** Frames as server-sent events, cut into pieces of `size` bytes; `broken` ends in an error, `open` never. */
export function sse(
  frames: readonly unknown[],
  { size = 7, broken = false, open = false } = {},
): Response {
  const text = frames
    .map(
      (frame, at) =>
        `id: i.${at}\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: frame })}\n\n`,
    )
    .join(': keep-alive\n\n');
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, (at += size)));
      else if (broken) controller.error(new Error('socket hang up'));
      else if (!open) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** The same, and then silence until `signal` ends it. */
export function openSse(
  frames: readonly unknown[],
  signal: AbortSignal | null | undefined,
): Response {
  const whole = sse(frames, { size: 4_096 });
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
      controller.enqueue(new Uint8Array(await whole.arrayBuffer()));
    },
  });
  return new Response(body, { headers: whole.headers });
}

export const taskId = '1a2b3c4d'.repeat(4);
/** A task on the wire, in a state named without its prefix. */
export const task = (state: string, more: Partial<WireTask> = {}): WireTask => ({
  id: taskId,
  status: { state: `TASK_STATE_${state}` },
  artifacts: [],
  ...more,
});

/** The code of the MeshError that a call ends in; another error as it is. */
export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof MeshError ? error.code : error),
  );
