import type { Clock } from '../../fabric/ports/clock.ts';
import { eventData } from './event-stream.ts';
import type { RpcDeps } from './rpc-exchange.ts';
import { post, readReply, type WireCall } from './rpc-wire.ts';
import { endsWaiting } from './wire-task.ts';

/** Three keep-alives of ours; a stream that says nothing for longer is taken as broken. */
const silenceMs = 45_000;

/**
 * Follows a task's stream until it says that waiting is over, or ends, or breaks: who calls this looks
 * at the task again in any case. Never rejects.
 */
export async function followTask(
  deps: RpcDeps,
  request: Omit<WireCall, 'method'>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  try {
    const until = AbortSignal.any([signal, over.signal]);
    const heard = silenceGuard(deps.clock, over);
    const response = await post(deps.fetch, { ...request, method: 'SubscribeToTask' }, until);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!response.ok || !isStream || response.body === null) return;
    for await (const data of eventData(heardPieces(response.body, heard))) {
      if (endsWaiting(readReply(data)?.result)) return;
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

/** Says of each piece that it came, keep-alives too. */
async function* heardPieces(
  body: AsyncIterable<Uint8Array>,
  heard: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    heard();
    yield piece;
  }
}
