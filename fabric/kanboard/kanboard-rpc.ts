import { z } from 'zod';
import { reasonOf } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { NoAnswerError } from './no-answer.ts';
import { OutageWatch } from './outage-watch.ts';

/** One JSON-RPC call of a batch. */
export interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What one call of a batch gave; Kanboard answers `false` or `null` where others would fail. */
export type Reply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly message: string };

export interface KanboardRpcOptions {
  /** `https://board.example/jsonrpc.php`. */
  readonly endpoint: string;
  readonly token: () => string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** How long one request may take, its time in our own line aside. */
  readonly timeoutMs?: number;
  /** Requests under way at once; more wait here, where their time-out does not run. */
  readonly parallel?: number;
}

export interface KanboardRpc {
  /**
   * The calls in one request, in order, in one PHP process; neither a transaction nor isolated: a call
   * after a failed one is made too (`reference/kanboard.md` 1.9).
   * @throws NoAnswerError
   */
  batch(calls: readonly Call[]): Promise<readonly Reply[]>;
  /** Whether it has stopped answering; then most calls fail at once and few try whether it is back. */
  isAway(): boolean;
  /** The board's own clock (ms, to the second), as its last answer had it; undefined: none yet. */
  boardNowMs(): number | undefined;
  /** Calls back each time it answers again. */
  onBack(back: () => void): () => void;
  /** Ends what is under way, and refuses what comes. */
  close(): void;
}

/** More calls in one request keep other hosts waiting, on a board with one PHP worker. */
export const callsPerRequest = 20;

const AnswerList = z.array(
  z.looseObject({
    id: z.unknown(),
    result: z.unknown().optional(),
    error: z.looseObject({ message: z.string() }).optional(),
  }),
);

/** Kanboard's JSON-RPC over HTTP, as the application user. It repeats nothing: who calls looks first. */
export function kanboardRpc(options: KanboardRpcOptions): KanboardRpc {
  const { parallel = 8 } = options;
  const closing = new AbortController();
  const line = new Line(parallel);
  const watch = new OutageWatch(options.clock);
  let dated: { readonly atMs: number; readonly monotonicMs: number } | undefined;
  return {
    isAway: () => watch.isAway,
    onBack: (back) => watch.onBack(back),
    boardNowMs: () => dated && dated.atMs + options.clock.monotonicMs() - dated.monotonicMs,
    async batch(calls) {
      watch.requireThere();
      return line.run(async () => {
        if (closing.signal.aborted) throw closedError();
        try {
          const { replies, date } = await post(options, closing.signal, calls);
          watch.answered();
          const atMs = Date.parse(date ?? '');
          if (atMs > 0) dated = { atMs, monotonicMs: options.clock.monotonicMs() };
          return replies;
        } catch (error) {
          watch.failed(error);
          throw error;
        }
      });
    },
    close() {
      closing.abort();
    },
  };
}

const closedError = () =>
  new NoAnswerError('The connection to the board was closed. Open it again.', false);

async function post(
  { endpoint, token, fetch, timeoutMs = 15_000 }: KanboardRpcOptions,
  closing: AbortSignal,
  calls: readonly Call[],
): Promise<{ readonly replies: readonly Reply[]; readonly date: string | null }> {
  const what = calls[0]?.method ?? 'nothing';
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
  let text: string;
  let status: number;
  let date: string | null;
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`jsonrpc:${token()}`).toString('base64')}`,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), closing]),
    });
    status = response.status;
    date = response.headers.get('date');
    text = await response.text();
  } catch (cause) {
    if (closing.aborted) throw closedError();
    throw new NoAnswerError(
      `Kanboard did not answer ${what}: ${causeOf(cause)}.`,
      !isRefused(cause),
      {
        cause,
      },
    );
  }
  return { replies: repliesOf(calls, what, status, text), date };
}

function repliesOf(calls: readonly Call[], what: string, status: number, text: string) {
  if (status === 401 || status === 403) throw credentialError(what, status, calls.length > 1);
  const answers = AnswerList.safeParse(parsedJson(text));
  if (status !== 200 || !answers.success) {
    throw new NoAnswerError(
      `Kanboard answered ${what} with HTTP ${status} and no JSON-RPC result. Look into its log.`,
      true,
    );
  }
  const byId = new Map(answers.data.map((answer) => [answer.id, answer]));
  return calls.map(({ method }, id): Reply => {
    const answer = byId.get(id);
    if (answer === undefined) return { ok: false, message: `no answer to ${method}` };
    if (answer.error) return { ok: false, message: `${method}: ${answer.error.message}` };
    return { ok: true, result: answer.result };
  });
}

/** A refused call inside a batch spoils the whole answer although earlier calls were made. */
const credentialError = (what: string, status: number, mayBeDone: boolean) =>
  new NoAnswerError(
    status === 401
      ? 'Kanboard refused the application token (HTTP 401). Give the one of Settings → API: ' +
          'MESH_KANBOARD_TOKEN, or board.tokenFile in mesh.yaml.'
      : `Kanboard forbade ${what} (HTTP 403). The mesh needs the application token, not a person’s.`,
    mayBeDone && status === 403,
    { isRefused: true },
  );

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const errnoOf = (error: unknown): string | undefined => {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : undefined;
};

const causeOf = (error: unknown): string =>
  error instanceof Error && error.name === 'TimeoutError'
    ? 'no answer in time'
    : (errnoOf(error) ?? reasonOf(error));

/** Nothing was sent: nobody listens there, or the name is not known. */
const isRefused = (error: unknown): boolean =>
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(
    errnoOf(error) ?? '',
  );

/** At most `parallel` at once, first come first served. */
class Line {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(parallel: number) {
    this.#free = parallel;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
