import type OpenAI from 'openai';
import type { Stream } from 'openai/streaming';
import { z } from 'zod';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { failureOf, toFailure } from './call-failure.ts';
import { bodyMarks, headerMarks } from './call-marks.ts';
import type { GatewayKind } from './call-marks.ts';
import { chatBody } from './chat-body.ts';
import { gatewayEndpoints } from './gateway-endpoints.ts';
import type {
  CallFailure,
  CallOrigin,
  ChatAnswer,
  ChatRequest,
  Embeddings,
  EmbedRequest,
  GatewayClient,
  ServedBy,
} from './gateway-client.ts';
import { headerOf, servedBy } from './served-by.ts';
import { parseCompletion, StreamedAnswer } from './wire-answer.ts';
import type { WireAnswer } from './wire-answer.ts';

export interface OpenAiWireOptions {
  /** With or without `/v1`: `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly kind: GatewayKind;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** For the endpoints that ask no model. */
  readonly probeTimeoutMs: number;
}

/**
 * The gateway through the official `openai` client for what OpenAI defines and `fetch` for what LiteLLM adds.
 * `maxRetries: 0`: left to itself the client sleeps as long as a `retry-after` says, hours included.
 */
export function openAiWireGateway(options: OpenAiWireOptions): GatewayClient {
  const { apiKey, clock, kind, fetch: send, probeTimeoutMs } = options;
  const root = rootOf(options.baseUrl);
  let connected: Promise<OpenAI> | undefined;
  // A quarter of all that a start would load is this package; whoever calls no model does without.
  const client = () =>
    (connected ??= import('openai').then(
      ({ default: Client }) =>
        new Client({ baseURL: `${root}/v1`, apiKey, maxRetries: 0, fetch: send }),
    ));
  const wire: Wire = { client, clock, kind };
  return {
    chat: (request, signal) => chat(wire, request, signal),
    chatStream: (request, onText, signal) => chatStream(wire, request, onText, signal),
    embed: (request, signal) => embed(wire, request, signal),
    ...gatewayEndpoints({ root, apiKey, fetch: send, clock, timeoutMs: probeTimeoutMs }),
  };
}

interface Wire {
  readonly client: () => Promise<OpenAI>;
  readonly clock: Clock;
  readonly kind: GatewayKind;
}

function rootOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    const message = 'The gateway address is no http or https URL. Write http://127.0.0.1:4000.';
    throw new InvalidValueError(message, 'gateway.url');
  }
  return baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
}

interface Bounded {
  readonly model: string;
  readonly origin: CallOrigin;
  readonly timeoutMs: number;
  readonly resetCapMs?: number;
}

async function chat(
  wire: Wire,
  request: ChatRequest,
  signal: AbortSignal | undefined,
): Promise<ChatAnswer | CallFailure> {
  return guarded(wire, request, signal, async (bound, what) => {
    const client = await wire.client();
    const sent = client.post<unknown>('/chat/completions', {
      body: { ...chatBody(request), ...bodyMarks(wire.kind, request.origin) },
      headers: headerMarks(wire.kind, request.origin),
      signal: bound,
      timeout: request.timeoutMs,
    });
    const { data, response } = await sent.withResponse();
    return complete(parseCompletion(data), servedBy(headerOf(response.headers)), what);
  });
}

async function chatStream(
  wire: Wire,
  request: ChatRequest,
  onText: (piece: string) => void,
  signal: AbortSignal | undefined,
): Promise<ChatAnswer | CallFailure> {
  return guarded(wire, request, signal, async (bound, what) => {
    const body = { ...chatBody(request), ...bodyMarks(wire.kind, request.origin) };
    const client = await wire.client();
    const sent = client.post<Stream<unknown>>('/chat/completions', {
      body: { ...body, stream: true, stream_options: { include_usage: true } },
      headers: headerMarks(wire.kind, request.origin),
      stream: true,
      signal: bound,
      timeout: request.timeoutMs,
    });
    const { data: stream, response } = await sent.withResponse();
    const answer = new StreamedAnswer();
    for await (const chunk of stream) {
      const piece = answer.add(chunk);
      if (piece === undefined) return misshapen(what);
      if (piece !== '') onText(piece);
    }
    // The client ends its iterator quietly when it is aborted.
    bound.throwIfAborted();
    const whole = answer.end();
    if (whole === undefined) return transient(what, 'the stream ended without an end');
    return complete(whole, servedBy(headerOf(response.headers)), what);
  });
}

const Vectors = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
  usage: z.looseObject({ prompt_tokens: z.number() }).nullish(),
});

async function embed(
  wire: Wire,
  request: EmbedRequest,
  signal: AbortSignal | undefined,
): Promise<Embeddings | CallFailure> {
  const { model, input, origin, timeoutMs } = request;
  return guarded(wire, request, signal, async (bound, what) => {
    const client = await wire.client();
    const sent = client.post<unknown>('/embeddings', {
      // The client's own default is base64, which not every server behind a gateway knows.
      body: { model, input, encoding_format: 'float', ...bodyMarks(wire.kind, origin) },
      headers: headerMarks(wire.kind, origin),
      signal: bound,
      timeout: timeoutMs,
    });
    const { data, response } = await sent.withResponse();
    const parsed = Vectors.safeParse(data);
    if (!parsed.success || parsed.data.data.length !== input.length) return misshapen(what);
    const vectors = parsed.data.data
      .toSorted((one, other) => one.index - other.index)
      .map(({ embedding }) => embedding);
    const promptTokens = parsed.data.usage?.prompt_tokens;
    return {
      ok: true,
      vectors,
      ...(promptTokens !== undefined && { usage: { promptTokens, completionTokens: 0 } }),
      servedBy: servedBy(headerOf(response.headers)),
    };
  });
}

/** Bounds a call in time, body and stream included, and turns what it throws into a value. */
async function guarded<Answer>(
  { clock }: Wire,
  { model, timeoutMs, resetCapMs }: Bounded,
  signal: AbortSignal | undefined,
  call: (bound: AbortSignal, what: string) => Promise<Answer | CallFailure>,
): Promise<Answer | CallFailure> {
  const what = `The call to ${model}`;
  const limit = AbortSignal.timeout(timeoutMs);
  const bound = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    return await call(bound, what);
  } catch (error) {
    return toFailure(error, {
      what,
      nowMs: clock.nowMs(),
      stopped: signal?.aborted === true,
      timeoutMs,
      ...(resetCapMs !== undefined && { resetCapMs }),
    });
  }
}

/** A 200 that says nothing is no success: an empty answer would be published as a result. */
function complete(
  answer: WireAnswer | undefined,
  by: ServedBy,
  what: string,
): ChatAnswer | CallFailure {
  if (answer === undefined) return misshapen(what);
  if (answer.finish === 'content_filter') {
    return failureOf({ class: 'refused', retry: 'never' }, { what });
  }
  if (answer.text.trim() === '' && answer.toolCalls.length === 0) {
    return transient(what, 'the model answered nothing');
  }
  return { ok: true, ...answer, servedBy: by };
}

const transient = (what: string, detail: string): CallFailure =>
  failureOf({ class: 'transient', retry: 'backoff' }, { what }, detail);

const misshapen = (what: string): CallFailure =>
  transient(what, 'the answer does not have the shape of an OpenAI answer');
