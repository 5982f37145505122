import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { stream } from 'hono/streaming';
import { concerning, maySee } from '../fabric/domain/access.ts';
import { InvalidValueError, MeshError } from '../fabric/domain/errors.ts';
import type { TaskEvent } from '../fabric/domain/events.ts';
import type { TaskId } from '../fabric/domain/ids.ts';
import { limits } from '../fabric/domain/limits.ts';
import type { Principal } from '../fabric/domain/principal.ts';
import { transition } from '../fabric/domain/transition.ts';
import type { TaskBoard, TaskLog } from '../fabric/ports/task-board.ts';
import { requireScope } from '../fabric/queue/answer.ts';
import { RefusedError } from '../fabric/queue/refusals.ts';
import { BoardCall, type WireLog } from '../fabric/remote/board-protocol.ts';

export interface BoardRouteDeps {
  readonly board: TaskBoard;
  readonly authenticate: (request: Request) => Promise<Principal>;
  readonly onError: (error: Error, c: Context) => Response | Promise<Response>;
}

/**
 * The TaskBoard port over HTTP, for workers of other hosts and the `mesh` command. Reading shows what
 * the principal may see, with `tasks:read` or `tasks:work`; writing needs `tasks:work`, a new task
 * `admin`. Events carry their writer's own name, and the table 4.4 is checked here too: a stranger's
 * event never breaks a log.
 */
export function boardRoutes({ board, authenticate, onError }: BoardRouteDeps): Hono {
  const app = new Hono();
  app.onError(onError);
  app.post('/', bodyLimit({ maxSize: limits.bodyBytes }), async (c) => {
    const principal = await authenticate(c.req.raw);
    const call = parseCall(await c.req.json().catch(() => undefined));
    return c.json({ result: await answer(board, principal, call) });
  });
  app.get('/changes', async (c) => {
    const principal = await authenticate(c.req.raw);
    requireReading(principal);
    return stream(c, async (out) => {
      const ended = new Promise<void>((resolve) => {
        const unwatch = board.watch((uid, state) => {
          if (maySee(state, principal) || principal.scopes.has('tasks:work'))
            void out.write(`${uid}\n`);
        });
        out.onAbort(() => {
          unwatch();
          resolve();
        });
      });
      await out.write('\n');
      await ended;
    });
  });
  return app;
}

function parseCall(body: unknown): BoardCall {
  const call = BoardCall.safeParse(body);
  if (call.success) return call.data;
  const [issue] = call.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new InvalidValueError(
    `The call to the board is not valid: ${path || 'body'}: ${issue?.message ?? 'unknown'}.`,
    path || 'body',
  );
}

async function answer(board: TaskBoard, who: Principal, call: BoardCall): Promise<unknown> {
  switch (call.op) {
    case 'append':
      await checkAppend(board, who, call);
      return board.append(call.uid, call.version, call.event, 'committed');
    case 'beat':
      requireScope(who, 'tasks:work');
      await board.beat(call.uid, call.version);
      return null;
    case 'list':
      requireScope(who, 'tasks:work');
      return board.list(call.queue, call.nowMs, call.limit);
    case 'flush':
      requireReading(who);
      await board.flush();
      return null;
    case 'depths':
      requireReading(who);
      return board.depths();
    case 'read':
      return visibleLog(who, await durable(board, await board.read(call.uid)));
    case 'resolve': {
      const uid = await board.resolve(call.taskRef);
      const log = uid === undefined ? undefined : await durable(board, await board.read(uid));
      return visibleLog(who, log) ? uid : null;
    }
    case 'find':
      return durable(board, await find(board, who, call.query));
  }
}

/** What was read, once no crash can take it back: a worker elsewhere acts on it. */
async function durable<Read>(board: TaskBoard, read: Read): Promise<Read> {
  await board.flush();
  return read;
}

/** Everything about who writes comes from the credential. */
async function checkAppend(
  board: TaskBoard,
  who: Principal,
  { uid, version, event }: Extract<BoardCall, { op: 'append' }>,
): Promise<void> {
  requireScope(who, 'tasks:work');
  if (event.kind === 'submitted') checkSubmitted(who, uid, event);
  const own = event.by.id === who.id && event.by.role === who.role;
  if (!own && !who.scopes.has('admin')) {
    throw new MeshError('TRUST_DENIED', `${who.id} may not write an event of ${event.by.id}.`, {
      path: 'event.by',
    });
  }
  const log = await board.read(uid);
  if ((log?.state.version ?? 0) + 1 !== version) return; // the slot itself says conflict
  const next = transition(log?.state, event);
  if (!next.ok) throw new RefusedError(next.reason, event.kind, uid, log?.state);
}

/**
 * Who submits, for whom, and whether it is admitted or tainted stands in the event itself; at an agent's
 * address the mesh fills that in. Only an administrator's host may put it here.
 */
function checkSubmitted(
  who: Principal,
  uid: TaskId,
  { task }: Extract<TaskEvent, { kind: 'submitted' }>,
): void {
  if (task.taskId !== uid) {
    throw new InvalidValueError(
      `The submitted task is ${task.taskId} and not ${uid}, whose log it is meant for.`,
      'event.task.taskId',
    );
  }
  if (who.scopes.has('admin')) return;
  throw new MeshError(
    'TRUST_DENIED',
    `${who.id} may not put a new task on the board. Send it to an agent's address (/agents/<id>/), or use a ` +
      'token with the scope admin.',
    { scope: 'admin' },
  );
}

/** A worker reads what it works on. @throws MeshError `TRUST_DENIED` without either scope */
function requireReading(who: Principal): void {
  if (!who.scopes.has('tasks:work')) requireScope(who, 'tasks:read');
}

function visibleLog(who: Principal, log: TaskLog | undefined): WireLog | null {
  const works = who.scopes.has('tasks:work');
  if (log === undefined || !(works || maySee(log.state, who))) return null;
  requireReading(who);
  return wireLog(log);
}

function wireLog({ uid, events, beats, ref }: TaskLog): WireLog {
  return { uid, events: [...events], ...(beats && { beats }), ...(ref && { ref }) };
}

async function find(
  board: TaskBoard,
  who: Principal,
  query: Extract<BoardCall, { op: 'find' }>['query'],
): Promise<unknown> {
  requireReading(who);
  const sees = who.scopes.has('tasks:read-all') || who.scopes.has('tasks:work');
  const narrowed = sees ? query : { ...query, ...concerning(who) };
  const page = await board.find(narrowed);
  const logs = await Promise.all(page.states.map(({ taskId }) => board.read(taskId)));
  return {
    logs: logs.flatMap((log) => (log ? [wireLog(log)] : [])),
    ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
    total: page.total,
  };
}
