import type { z } from 'zod';
import { BoardUnavailableError, MeshError, meshErrorCodes } from '../domain/errors.ts';
import { fold } from '../domain/fold.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import type { TaskBoard, TaskLog } from '../ports/task-board.ts';
import { BoardAnswers, BoardProblem, type BoardCall, type WireLog } from './board-protocol.ts';
import { followChanges } from './change-stream.ts';
import type { RemoteBoardOptions } from './remote-board-options.ts';

/**
 * TaskBoard over another mesh's front. An answer that got lost after an append is `unknown`: the caller
 * reads before anything else. Everything it returns was parsed and folded here.
 */
export function remoteBoard(options: RemoteBoardOptions): TaskBoard {
  const closed = new AbortController();
  const call = caller(options, closed.signal);
  const read = async (uid: TaskId) => {
    const log = await call('read', { op: 'read', uid });
    return log ? toTaskLog(log) : undefined;
  };
  const changes = changeHints(options, closed.signal, read);
  return {
    // Whatever its caller would have buffered is committed: the buffer would be the front's, which another
    // process may lose after this one was told "appended".
    async append(uid, version, event) {
      try {
        return await call('append', { op: 'append', uid, version, event });
      } catch (error) {
        if (error instanceof LostAnswerError) return 'unknown';
        throw error;
      }
    },
    read,
    // It knows nothing by itself: the front does.
    known: read,
    list: (queue, nowMs, limit) => call('list', { op: 'list', queue, nowMs, limit }),
    async find(query) {
      const page = await call('find', { op: 'find', query });
      return {
        states: page.logs.map((log) => toTaskLog(log).state),
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
        total: page.total,
      };
    },
    resolve: async (taskRef) => (await call('resolve', { op: 'resolve', taskRef })) ?? undefined,
    async beat(uid, version) {
      await call('beat', { op: 'beat', uid, version });
    },
    watch: (onChange) => changes.watch(onChange),
    show: () => Promise.resolve(),
    depths: () => call('depths', { op: 'depths' }),
    async flush() {
      await call('flush', { op: 'flush' });
    },
    close() {
      closed.abort();
      return Promise.resolve();
    },
  };
}

type Watcher = (uid: TaskId, state: TaskState) => void;

/** Follows the front's hints from the first watcher on. */
function changeHints(
  options: RemoteBoardOptions,
  closed: AbortSignal,
  read: (uid: TaskId) => Promise<TaskLog | undefined>,
) {
  const watchers = new Set<Watcher>();
  let following: Promise<void> | undefined;
  return {
    watch(watcher: Watcher) {
      watchers.add(watcher);
      following ??= followChanges(options, closed, async (uid) => {
        const log = await read(uid).catch(() => undefined);
        if (log) for (const each of watchers) each(uid, log.state);
      });
      return () => watchers.delete(watcher);
    },
  };
}

/** The request may or may not have been carried out. */
class LostAnswerError extends BoardUnavailableError {}

function caller(
  { url, authorization, fetch, timeoutMs = 10_000 }: RemoteBoardOptions,
  closed: AbortSignal,
) {
  return async <K extends BoardCall['op']>(
    op: K,
    body: Extract<BoardCall, { op: K }>,
  ): Promise<z.infer<(typeof BoardAnswers)[K]>> => {
    if (closed.aborted) throw new BoardUnavailableError('This connection to the board was closed.');
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: await authorization() },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    };
    const response = await fetch(`${url}/board`, init).catch((cause: unknown) => {
      throw new LostAnswerError(`The board at ${url} did not answer ${op}. Is the mesh up?`, {
        cause,
      });
    });
    const text = await response.text().catch((cause: unknown) => {
      throw new LostAnswerError(`The board at ${url} broke off its answer to ${op}.`, { cause });
    });
    const answer = parsed(text);
    if (!response.ok) throw problemOf(op, response.status, answer);
    const schema: z.ZodType = BoardAnswers[op];
    const result = schema.safeParse((answer as { result?: unknown } | undefined)?.result);
    if (result.success) return result.data as z.infer<(typeof BoardAnswers)[K]>;
    throw new LostAnswerError(
      `The board at ${url} gave an answer to ${op} that is not one of its own.`,
    );
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemOf(op: string, status: number, answer: unknown): MeshError {
  const problem = BoardProblem.safeParse(answer);
  if (!problem.success) return new LostAnswerError(`The board answered ${op} with HTTP ${status}.`);
  const code = meshErrorCodes.find((known) => known === problem.data.code);
  if (code === undefined || code === 'FABRIC_DOWN') {
    return new BoardUnavailableError(problem.data.detail);
  }
  const { detail, path } = problem.data;
  return new MeshError(code, detail, path === undefined ? {} : { path });
}

function toTaskLog({ uid, events, beats, ref }: WireLog): TaskLog {
  const state = fold(events);
  if (state === undefined) throw new BoardUnavailableError(`The log of task ${uid} came empty.`);
  return {
    uid,
    events,
    state,
    beats,
    ...(ref ? { ref: { boardTaskId: ref.boardTaskId, ...(ref.url && { url: ref.url }) } } : {}),
  };
}
