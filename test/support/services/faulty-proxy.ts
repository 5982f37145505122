import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Fate } from './fates.ts';

/** One request as the proxy sees it before its fate. */
export interface ProxiedRequest {
  /** Of its JSON-RPC calls, in order; empty for a page or what is no JSON-RPC. */
  readonly methods: readonly string[];
}

export type Matcher = (request: ProxiedRequest) => boolean;

/** Requests that hold at least one call of one of these. */
export const calling =
  (...methods: readonly string[]): Matcher =>
  (request) =>
    request.methods.some((method) => methods.includes(method));

export interface FaultyProxy {
  /** The API through the proxy. */
  readonly url: string;
  /** Every request so far and what became of it, in the order of arrival. */
  readonly seen: readonly (ProxiedRequest & { readonly fate: Fate['kind'] })[];
  /** The next requests (one unless `times` says otherwise) that match meet this fate. Oldest order first. */
  next(fate: Fate, when?: Matcher, times?: number): void;
  /** All that match and are not spoken for by `next` meet this fate. The newest order first. */
  always(fate: Fate, when?: Matcher): void;
  /** Requests that no order matches: `draw` decides; see `fates`. */
  drawFrom(draw: (request: ProxiedRequest) => Fate): void;
  /** Forgets all orders; later requests pass. What hangs goes on hanging. */
  clear(): void;
  /** From now on connections are refused by the kernel; those that are open are reset. */
  refuse(): Promise<void>;
  /** Takes connections again, on the same port. */
  accept(): Promise<void>;
  /** Resolves when every request that was begun upstream, late and second ones too, is through. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A loopback proxy before a Kanboard that does to requests what networks, restarts and full disks do.
 * What it executes, it executes whether or not the client still waits.
 * @param upstream address of the real `jsonrpc.php`
 */
export async function startFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const orders = fateOrders();
  const seen: (ProxiedRequest & { fate: Fate['kind'] })[] = [];
  const underWay = new Set<Promise<void>>();
  const target = forwarder(new URL(upstream));
  const server = createServer((incoming, response) => {
    // A client that gives up is what this is made for.
    incoming.on('error', () => undefined);
    response.on('error', () => undefined);
    void bodyOf(incoming).then(async (body) => {
      if (body === undefined) return;
      const asked = { methods: methodsIn(body) };
      const fate = orders.fateOf(asked);
      seen.push({ ...asked, fate: fate.kind });
      const through = suffer(fate, { response, execute: () => target.send(incoming, body) });
      underWay.add(through);
      await through;
      underWay.delete(through);
    });
  });
  // One connection a request, so that a reset or a refusal meets that request and not the one after it.
  server.maxRequestsPerSocket = 1;
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No TCP port was given.');
  const { port } = address;
  return {
    url: `http://127.0.0.1:${port}${new URL(upstream).pathname}`,
    seen,
    ...orders,
    refuse,
    accept: () => listen(port),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
    async stop() {
      await refuse();
      target.close();
    },
  };
}

function fateOrders() {
  let ordered: { fate: Fate; when: Matcher; left: number }[] = [];
  let standing: { fate: Fate; when: Matcher }[] = [];
  let draw: (request: ProxiedRequest) => Fate = () => ({ kind: 'passed' });
  return {
    next(fate: Fate, when: Matcher = () => true, times = 1): void {
      ordered.push({ fate, when, left: times });
    },
    always(fate: Fate, when: Matcher = () => true): void {
      standing.unshift({ fate, when });
    },
    drawFrom(decide: (request: ProxiedRequest) => Fate): void {
      draw = decide;
    },
    clear(): void {
      [ordered, standing, draw] = [[], [], () => ({ kind: 'passed' })];
    },
    fateOf(asked: ProxiedRequest): Fate {
      const first = ordered.find(({ when }) => when(asked));
      if (first === undefined) return standing.find(({ when }) => when(asked))?.fate ?? draw(asked);
      first.left -= 1;
      ordered = ordered.filter(({ left }) => left > 0);
      return first.fate;
    },
  };
}

/** What Kanboard answered. */
interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

interface Exchange {
  readonly response: ServerResponse;
  /** Rejects where the upstream does not answer. */
  readonly execute: () => Promise<Answer>;
}

/** Resolves when all that this fate executes is through. */
async function suffer(fate: Fate, { response, execute }: Exchange): Promise<void> {
  switch (fate.kind) {
    case 'passed':
      await giveBack(response, execute());
      break;
    case 'reset':
      reset(response);
      break;
    case 'hanging':
      break;
    case 'delayed': {
      await sleep(fate.beforeMs ?? 0);
      const answer = execute();
      await Promise.all([answer.catch(() => undefined), sleep(fate.afterMs ?? 0)]);
      await giveBack(response, answer);
      break;
    }
    case 'answer-lost':
      await execute().catch(() => undefined);
      reset(response);
      break;
    case 'answer-cut': {
      const answer = await execute().catch(() => undefined);
      if (answer) await writeHalf(response, answer);
      reset(response);
      break;
    }
    case 'twice': {
      const first = execute();
      const second = first
        .catch(() => undefined)
        .then(() => sleep(fate.againAfterMs ?? 0))
        .then(execute);
      await Promise.allSettled([
        giveBack(response, fate.answer === 'second' ? second : first),
        second,
      ]);
      break;
    }
    case 'empty-500':
      if (fate.executed) await execute().catch(() => undefined);
      answerWith(response, 500, 'text/html; charset=UTF-8', '');
      break;
    case 'html-page':
      answerWith(response, 502, 'text/html', '<html><body><h1>502 Bad Gateway</h1></body></html>');
      break;
    case 'unauthorized':
      answerWith(response, 401, 'application/json', errorReply(401, 'Unauthorized'));
      break;
    case 'disk-full':
      answerWith(response, 200, 'application/json', errorReply(0, diskFull));
      break;
  }
}

const diskFull = 'SQLSTATE[HY000]: General error: 13 database or disk is full';
const errorReply = (code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });

function answerWith(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

/** An upstream that is gone looks to the client as it does without a proxy between them. */
async function giveBack(response: ServerResponse, answer: Promise<Answer>): Promise<void> {
  try {
    const { status, headers, body } = await answer;
    response.writeHead(status, [...headers]).end(body);
  } catch {
    reset(response);
  }
}

async function writeHalf(
  response: ServerResponse,
  { status, headers, body }: Answer,
): Promise<void> {
  response.writeHead(status, [...headers, 'content-length', String(body.length)]);
  const half = body.subarray(0, Math.ceil(body.length / 2));
  await new Promise<void>((resolve) =>
    response.write(half, () => {
      resolve();
    }),
  );
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Sends requests on, one connection each. */
function forwarder(upstream: URL) {
  const agent = new Agent({ keepAlive: false });
  const send = (incoming: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { host, connection, 'transfer-encoding': chunked, ...headers } = incoming.headers;
    const path = incoming.url ?? '/';
    return new Promise<Answer>((resolve, reject) => {
      const { hostname, port } = upstream;
      const outgoing = request(
        { hostname, port, path, method: incoming.method, headers, agent },
        (reply) => {
          reply.once('error', reject);
          void bodyOf(reply).then((text) => {
            if (text === undefined) {
              reject(new Error('The upstream broke off.'));
              return;
            }
            resolve({
              status: reply.statusCode ?? 0,
              headers: endToEnd(reply.rawHeaders),
              body: text,
            });
          });
        },
      );
      outgoing.once('error', reject).end(body);
    });
  };
  return {
    send,
    close(): void {
      agent.destroy();
    },
  };
}

/** Names and values in turn, without those that hold for one connection only. */
function endToEnd(raw: readonly string[]): readonly string[] {
  const own = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];
  return raw.filter((_, at) => !own.includes((raw[at - (at % 2)] ?? '').toLowerCase()));
}

/** Undefined where the other side broke off. */
async function bodyOf(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

const Call = z.object({ method: z.string() });
const Calls = z.union([Call.transform((call) => [call]), z.array(Call)]);

function methodsIn(body: Buffer): readonly string[] {
  try {
    return Calls.parse(JSON.parse(body.toString())).map(({ method }) => method);
  } catch {
    return [];
  }
}
