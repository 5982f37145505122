import type { Clock } from '../../fabric/ports/clock.ts';
import { endsWaiting } from './remote-task.ts';
import { parsed, post, type RpcDeps, type RpcRequest } from './rpc-exchange.ts';

/** Three keep-alives of ours; a stream that says nothing for longer is taken as broken. */
const silenceMs = 45_000;
const frameChars = 4 * 1024 * 1024;

/**
 * Follows a task's stream until it says that waiting is over, or ends, or breaks: who calls this looks
 * at the task again in any case. Never rejects.
 */
export async function followTask(
  deps: RpcDeps,
  request: Pick<RpcRequest, 'url' | 'token' | 'params'>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  try {
    const until = AbortSignal.any([signal, over.signal]);
    const heard = silenceGuard(deps.clock, over);
    const response = await post(deps, { ...request, method: 'SubscribeToTask' }, until);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!response.ok || !isStream || response.body === null) return;
    const decoder = new TextDecoder();
    let rest = '';
    for await (const piece of response.body as AsyncIterable<Uint8Array>) {
      heard();
      rest += decoder.decode(piece, { stream: true });
      if (rest.length > frameChars) return;
      const frames = rest.split(/\r?\n\r?\n/);
      rest = frames.pop() ?? '';
      if (frames.some((frame) => endsWaiting(resultOf(frame)))) return;
    }
  } catch {
    // Broken or stopped: the next look at the task tells where it stands.
  } finally {
    over.abort();
  }
}

/** Aborts `over` after a silence; the returned function says that something was heard. */
function silenceGuard(clock: Clock, over: AbortController): () => void {
  let heardAtMs = clock.monotonicMs();
  void (async () => {
    while (!over.signal.aborted) {
      const leftMs = heardAtMs + silenceMs - clock.monotonicMs();
      if (leftMs <= 0) over.abort();
      else await clock.sleep(leftMs, over.signal);
    }
  })();
  return () => {
    heardAtMs = clock.monotonicMs();
  };
}

function resultOf(frame: string): unknown {
  const data = frame
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n');
  const reply = parsed(data);
  return typeof reply === 'object' && reply !== null && 'result' in reply
    ? reply.result
    : undefined;
}
