import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the upstream does with a call; picked by the call's model name. */
export type Script =
  | { readonly kind: 'text'; readonly text: string; readonly finish?: string }
  | { readonly kind: 'tool'; readonly name: string; readonly arguments: string }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Answers nothing until the caller goes away. */
  | { readonly kind: 'silent' }
  /** Streams `text`, then an error event in place of an end. */
  | { readonly kind: 'brokenStream'; readonly text: string; readonly error: unknown }
  /** Streams `text`, then drops the connection. */
  | { readonly kind: 'cutStream'; readonly text: string }
  | { readonly kind: 'vector'; readonly vector: readonly number[] };

export interface SeenRequest {
  readonly path: string;
  readonly model: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface OpenAiUpstream {
  /** With `/v1`. */
  readonly url: string;
  readonly requests: SeenRequest[];
  /** Sets what `model` does from now on. */
  script(model: string, script: Script): void;
  stop(): Promise<void>;
}

/** An OpenAI-shaped server on loopback whose answers are scripted by model name. */
export async function openAiUpstream(
  scripts: Readonly<Record<string, Script>>,
): Promise<OpenAiUpstream> {
  const byModel = new Map(Object.entries(scripts));
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void seen(request).then((one) => {
      requests.push(one);
      answer(
        byModel.get(one.model) ?? { kind: 'text', text: `no script: ${one.model}` },
        one,
        response,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (model, script) => void byModel.set(model, script),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function seen(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  return {
    path: request.url ?? '',
    model: typeof body['model'] === 'string' ? body['model'] : '',
    headers: request.headers,
    body,
  };
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function answer(script: Script, { body, model }: SeenRequest, response: ServerResponse): void {
  const streams = body['stream'] === true;
  switch (script.kind) {
    case 'text': {
      const finish = script.finish ?? 'stop';
      if (streams) return stream(response, model, words(script.text), finish);
      return json(response, 200, completion(model, { content: script.text }, finish));
    }
    case 'tool': {
      const call = { name: script.name, arguments: script.arguments };
      const tool = { id: 'call_1', type: 'function', function: call };
      const message = { content: null, tool_calls: [tool] };
      return json(response, 200, completion(model, message, 'tool_calls'));
    }
    case 'error':
      return json(response, script.status, script.body, script.headers);
    case 'silent':
      return;
    case 'brokenStream':
      startStream(response, model, words(script.text));
      response.end(`data: ${JSON.stringify({ error: script.error })}\n\n`);
      return;
    case 'cutStream':
      startStream(response, model, words(script.text));
      setImmediate(() => response.destroy());
      return;
    case 'vector': {
      const input = body['input'];
      const count = Array.isArray(input) ? input.length : 1;
      const data = Array.from({ length: count }, (_, index) => ({
        object: 'embedding',
        index,
        embedding: script.vector,
      }));
      const used = { prompt_tokens: 3, total_tokens: 3 };
      return json(response, 200, { object: 'list', model, data, usage: used });
    }
  }
}

const words = (text: string): readonly string[] => text.split(/(?<= )/);

function completion(model: string, message: object, finish: string): object {
  const choice = { index: 0, finish_reason: finish, message: { role: 'assistant', ...message } };
  const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_796_000_000, model };
  return { ...head, choices: [choice], usage };
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function chunk(model: string, delta: object, finish: string | null): string {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_796_000_000, model };
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}

function startStream(response: ServerResponse, model: string, pieces: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk(model, { role: 'assistant', content: '' }, null));
  for (const content of pieces) response.write(chunk(model, { content }, null));
}

function stream(
  response: ServerResponse,
  model: string,
  pieces: readonly string[],
  finish: string,
): void {
  startStream(response, model, pieces);
  response.write(chunk(model, {}, finish));
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_796_000_000, model };
  response.end(`data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`);
}
