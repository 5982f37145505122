import { z } from 'zod';
import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';

const Status = z.looseObject({
  state: z.string(),
  timestamp: z.string().optional(),
  message: z
    .looseObject({ parts: z.array(z.looseObject({ text: z.string().optional() })) })
    .optional(),
});
const Artifact = z.looseObject({
  artifactId: z.string(),
  parts: z.array(z.looseObject({ text: z.string().optional(), url: z.string().optional() })),
});
/** A 1.0 Task as JSON, as far as tests look at it. */
export const WireTask = z.looseObject({
  id: z.string(),
  contextId: z.string(),
  status: Status,
  artifacts: z.array(Artifact).optional(),
  history: z.array(z.looseObject({ messageId: z.string() })).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type WireTask = z.infer<typeof WireTask>;

const RpcReply = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z
    .looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() })
    .optional(),
});
export type RpcReply = z.infer<typeof RpcReply>;

export interface RpcOptions {
  readonly token?: string;
  readonly version?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** One JSON-RPC call; what comes back is parsed and otherwise untouched. */
export async function rpc(
  url: string,
  method: string,
  params: unknown,
  { token, version = '1.0', headers = {}, signal }: RpcOptions = {},
): Promise<RpcReply & { readonly status: number; readonly headers: Headers }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(version === '' ? {} : { 'A2A-Version': version }),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    ...(signal ? { signal } : {}),
  });
  const reply = RpcReply.parse(await response.json());
  return { ...reply, status: response.status, headers: response.headers };
}

let sent = 0;

/** A message of a client, with our submit extension where `extension` is given. */
export function message(text: string, change: Record<string, unknown> = {}, extension?: object) {
  sent += 1;
  return {
    messageId: `message-${process.pid}-${sent}`,
    role: 'ROLE_USER',
    parts: [{ text }],
    ...(extension ? { metadata: { [extensionUris.submit]: extension } } : {}),
    ...change,
  };
}

/** The Task of a reply to SendMessage, GetTask, CancelTask or a method of ours. */
export function taskOf(reply: RpcReply): WireTask {
  if (reply.error) throw new Error(`${reply.error.code}: ${reply.error.message}`);
  const result = reply.result as { task?: unknown };
  return WireTask.parse(result.task ?? reply.result);
}

const Info = z.looseObject({ reason: z.string().optional(), domain: z.string().optional() });

/** Code, reason and domain of an error; its data is a list in 1.0 and one object in 0.3. */
export function errorOf({ error }: RpcReply): { code: number; reason: string; domain: string } {
  const { data } = error ?? {};
  const info = Info.parse((Array.isArray(data) ? data[0] : data) ?? {});
  return { code: error?.code ?? 0, reason: info.reason ?? '', domain: info.domain ?? '' };
}

export interface StreamEvent {
  readonly id: string | undefined;
  readonly result: {
    readonly task?: unknown;
    readonly statusUpdate?: { readonly status: { readonly state: string } };
    readonly artifactUpdate?: {
      readonly append?: boolean;
      readonly artifact: {
        readonly artifactId: string;
        readonly parts: { readonly text?: string }[];
      };
    };
  };
}

/** Opens a stream and yields its events; ends with the stream. Throws for a plain answer. */
export async function* stream(
  url: string,
  method: string,
  params: unknown,
  { token, version = '1.0', headers = {}, signal }: RpcOptions = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'A2A-Version': version,
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    ...(signal ? { signal } : {}),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw new Error(await response.text());
  }
  let buffered = '';
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    buffered += bytes;
    for (let end = buffered.indexOf('\n\n'); end >= 0; end = buffered.indexOf('\n\n')) {
      const event = eventOf(buffered.slice(0, end));
      buffered = buffered.slice(end + 2);
      if (event) yield event;
    }
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const lines = block.split('\n');
  const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
  if (data === undefined) return undefined;
  const id = lines.find((line) => line.startsWith('id: '))?.slice(4);
  const { result } = JSON.parse(data) as { result: StreamEvent['result'] };
  return { id, result };
}

export const textsOf = (events: readonly StreamEvent[]): string[] =>
  events.flatMap(({ result }) =>
    result.artifactUpdate ? [result.artifactUpdate.artifact.parts[0]?.text ?? ''] : [],
  );

/** Asks again until it holds; fails with what was seen last after 5 s. */
export async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const endMs = performance.now() + 5_000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > endMs) throw new Error(`Never held: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
