import { z } from 'zod';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';

/** A call that brought no task, as a value: refused by the other side, or without a clear answer. */
export interface CallRefused {
  readonly ok: false;
  /** The other side's own reason (`DEPTH_EXCEEDED`), or `NO_ANSWER`, `NO_KEY`, `NO_ADDRESS`, `STOPPED`. */
  readonly reason: string;
  /** For `NO_ANSWER` and the like our words; else the other side's sentence, untrusted. */
  readonly message: string;
  /** Facts of the error: `path`, `retryAt`, `taskId`. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface RpcRequest {
  readonly url: string;
  /** A fresh one a try: it lives only minutes. */
  token(): Promise<string>;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Of one try. */
  readonly timeoutMs: number;
  /** Repeating it is safe: it reads, or its messageId names the same task again. */
  readonly tries: number;
}

export interface RpcDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
}

type Exchange = { readonly ok: true; readonly result: unknown } | CallRefused;

const ErrorInfo = z.looseObject({
  reason: z.string().max(64),
  metadata: z.record(z.string(), z.string()).optional(),
});
const RpcReply = z.looseObject({
  result: z.unknown().optional(),
  error: z
    .looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() })
    .optional(),
});

const replyBytes = 4 * 1024 * 1024;
const firstPauseMs = 200;

export const refusedCall = (
  reason: string,
  message: string,
  facts: Readonly<Record<string, string>> = {},
): CallRefused => ({ ok: false, reason, message, facts });

/** One JSON-RPC call; an answer that was lost is asked for again, a refusal is final. Never rejects. */
export async function exchange(
  deps: RpcDeps,
  request: RpcRequest,
  signal: AbortSignal,
): Promise<Exchange> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await exchangeOnce(deps, request, signal);
    if (signal.aborted) return refusedCall('STOPPED', `${request.method} was stopped.`);
    const isLost = !answer.ok && answer.reason === 'NO_ANSWER';
    if (!isLost || attempt >= request.tries) return answer;
    await deps.clock.sleep(firstPauseMs * 2 ** (attempt - 1), signal);
  }
}

async function exchangeOnce(
  deps: RpcDeps,
  request: RpcRequest,
  signal: AbortSignal,
): Promise<Exchange> {
  const done = new AbortController();
  const limit = new AbortController();
  void deps.clock.sleep(request.timeoutMs, done.signal).then(() => limit.abort());
  try {
    const response = await post(deps, request, AbortSignal.any([signal, limit.signal]));
    if (response.status >= 500) return lost(request, `HTTP ${response.status}`);
    const text = await boundedText(response);
    const reply = RpcReply.safeParse(parsed(text));
    if (reply.success) return toExchange(request, reply.data);
    if (response.status === 401) {
      return refusedCall('UNAUTHENTICATED', `${request.method} was refused: no valid credential.`);
    }
    return refusedCall(
      'BAD_ANSWER',
      `${request.method} got HTTP ${response.status} and no JSON-RPC.`,
    );
  } catch (error) {
    return lost(request, reasonOf(error));
  } finally {
    done.abort();
  }
}

const lost = ({ method }: RpcRequest, why: string): CallRefused =>
  refusedCall('NO_ANSWER', `${method} got no answer (${why}).`);

/** The request of `exchange` and of a stream alike. A redirect would carry the credential elsewhere. */
export async function post(
  { fetch }: RpcDeps,
  { url, token, method, params }: Pick<RpcRequest, 'url' | 'token' | 'method' | 'params'>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    redirect: 'error',
    headers: {
      authorization: `Bearer ${await token()}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal,
  });
}

async function boundedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  if (response.body === null) return '';
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > replyBytes) throw new Error(`the answer is over ${replyBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toExchange({ method }: RpcRequest, { result, error }: z.infer<typeof RpcReply>): Exchange {
  if (error === undefined) return { ok: true, result };
  const items = Array.isArray(error.data) ? (error.data as unknown[]) : [error.data];
  const info = items.map((item) => ErrorInfo.safeParse(item).data).find((one) => one !== undefined);
  const reason = info?.reason ?? `RPC_${error.code}`;
  return refusedCall(
    reason,
    error.message.slice(0, 1_000) || `${method} was refused.`,
    info?.metadata,
  );
}
