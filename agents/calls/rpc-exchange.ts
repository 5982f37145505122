import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { errorDetails, post, readReply, type RpcReply, type WireCall } from './rpc-wire.ts';

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

export interface RpcRequest extends WireCall {
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
    const response = await post(deps.fetch, request, AbortSignal.any([signal, limit.signal]));
    if (response.status >= 500) return lost(request, `HTTP ${response.status}`);
    const reply = readReply(await boundedText(response));
    if (reply) return toExchange(request, reply);
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

function toExchange({ method }: RpcRequest, { result, error }: RpcReply): Exchange {
  if (error === undefined) return { ok: true, result };
  const info = errorDetails(error).find(({ reason }) => reason !== undefined);
  const reason = info?.reason ?? `RPC_${error.code}`;
  const message = error.message.slice(0, 1_000) || `${method} was refused.`;
  return refusedCall(reason, message, textFacts(info?.metadata));
}

const textFacts = (metadata: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
