import { formatSSEErrorEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { limits } from '../../fabric/domain/limits.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { toEventIdText, type EventId } from './event-id.ts';

/** A stream of JSON-RPC answers that already gave its first. */
export interface AnswerStream {
  readonly first: IteratorResult<unknown, void>;
  readonly rest: AsyncIterator<unknown, void>;
  /** The event id of the answer that was taken last. */
  readonly eventId: () => EventId | undefined;
  /** The client has gone: stop waiting on its behalf. */
  readonly hangUp: () => void;
  /** The JSON-RPC answer for an error in mid-stream. */
  readonly failed: (error: unknown) => unknown;
}

const encoder = new TextEncoder();

/**
 * Server-Sent Events, one JSON-RPC answer each, with ids to go on from and a comment every 15 s so
 * that no proxy takes silence for death (H14). Pulls only what the client takes; a client that takes
 * too little is cut off where its frames wait.
 */
export function sseResponse(
  stream: AnswerStream,
  clock: Clock,
  headers: Readonly<Record<string, string>>,
): Response {
  const closed = new AbortController();
  const end = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (closed.signal.aborted) return;
    closed.abort();
    controller.close();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      void keepAlive(controller, clock, closed.signal);
      put(controller, stream, stream.first);
      if (stream.first.done) end(controller);
    },
    async pull(controller) {
      try {
        const next = await stream.rest.next();
        if (closed.signal.aborted) return;
        put(controller, stream, next);
        if (next.done) end(controller);
      } catch (error) {
        if (closed.signal.aborted) return;
        controller.enqueue(encoder.encode(formatSSEErrorEvent(stream.failed(error))));
        end(controller);
      }
    },
    cancel() {
      closed.abort();
      stream.hangUp();
      void stream.rest.return?.();
    },
  });
  return new Response(body, { headers: { ...SSE_HEADERS, ...headers } });
}

function put(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { eventId }: AnswerStream,
  next: IteratorResult<unknown, void>,
): void {
  if (next.done) return;
  const id = eventId();
  const head = id ? `id: ${toEventIdText(id)}\n` : '';
  controller.enqueue(encoder.encode(`${head}data: ${JSON.stringify(next.value)}\n\n`));
}

async function keepAlive(
  controller: ReadableStreamDefaultController<Uint8Array>,
  clock: Clock,
  closed: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(limits.sseKeepAliveMs, closed);
    if (closed.aborted) return;
    // A client that has not even taken the last comment gets no other.
    if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(': keep-alive\n\n'));
  }
}
