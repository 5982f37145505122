import { BoardUnavailableError } from '../domain/errors.ts';
import type { Author, EventOf, TaskEvent, TaskEventKind } from '../domain/events.ts';
import type { TaskId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { transition } from '../domain/transition.ts';
import type { Durability, TaskLog } from '../ports/task-board.ts';
import type { LogWriterDeps, QueueDeps } from './deps.ts';
import { RefusedError, unknownTask } from './refusals.ts';
import { requireSound } from './sound-event.ts';

type Body<K extends TaskEventKind> = Omit<EventOf<K>, 'kind' | 'by' | 'atMs' | 'token'>;

/** An event of `kind` by `by`, now, with a token of its own or of the act that it takes in. */
export function eventOf<K extends TaskEventKind>(
  deps: Pick<QueueDeps, 'clock' | 'random' | 'token'>,
  by: Author,
  kind: K,
  body: Body<K>,
): EventOf<K> {
  const stamp = { kind, by, atMs: deps.clock.nowMs(), token: deps.token ?? deps.random.hex(8) };
  // The parts are checked against the kind above; TypeScript can't join them again by itself.
  return { ...stamp, ...body } as unknown as EventOf<K>;
}

/** Rivals that may come between reading and writing before we call it a fault. */
const mostConflicts = 16;

export interface ChangeOptions {
  readonly durability?: Durability;
  /** Decides only on what the board says now: for beats, which leave no version behind. */
  readonly fresh?: boolean;
}

/**
 * Reads a task, lets `decide` make the next event from what it read, and appends it; after a
 * conflict it reads and decides again, after an unclear answer it reads before anything else. The first try
 * is made on what this process knows, which costs no request: it counts only if the slot after it was free,
 * so that nothing had come after it.
 * `decide` returns undefined when nothing is left to do: then what it read is made durable first, as it is
 * where another process has taken the same act in. Returns the state after it.
 * @throws RefusedError when the state does not take the event
 * @throws MeshError `NOT_FOUND` for an unknown uid, `FABRIC_DOWN` when the board can't be reached
 */
export async function change(
  deps: LogWriterDeps,
  uid: TaskId,
  decide: (log: TaskLog) => TaskEvent | undefined,
  { durability = 'committed', fresh = false }: ChangeOptions = {},
): Promise<TaskState> {
  const guess = fresh ? undefined : await guessed(deps, uid, decide);
  if (guess && (await appended(deps, uid, guess.after.version, guess.event, durability))) {
    report(deps, guess.before, guess.after, guess.event);
    return guess.after;
  }
  for (let tries = 0; tries < mostConflicts; tries++) {
    const log = await deps.board.read(uid);
    if (log === undefined) throw unknownTask(uid);
    const event = decide(log);
    if (event === undefined || isTaken(log, event)) {
      // What it read may not be durable yet, and whoever asks again may act on the answer.
      if (durability === 'committed') await deps.board.flush();
      return log.state;
    }
    const next = transition(log.state, event);
    if (!next.ok) throw new RefusedError(next.reason, event.kind, uid, log.state);
    if (await appended(deps, uid, log.state.version + 1, event, durability)) {
      report(deps, log.state, next.state, event);
      return next.state;
    }
  }
  throw new BoardUnavailableError(
    `Task ${uid} was changed ${mostConflicts} times while this change was tried. Try again.`,
  );
}

/** What `decide` makes of the log as it is known here; undefined where that leads to no event: it may be old. */
async function guessed(
  { board }: LogWriterDeps,
  uid: TaskId,
  decide: (log: TaskLog) => TaskEvent | undefined,
) {
  const log = await board.known(uid);
  if (log === undefined) return undefined;
  try {
    const event = decide(log);
    if (event === undefined || isTaken(log, event)) return undefined;
    const next = transition(log.state, event);
    return next.ok ? { before: log.state, event, after: next.state } : undefined;
  } catch {
    return undefined;
  }
}

/** The same act, taken in before; no two acts share a token, and no two random ones do. */
const isTaken = ({ events }: TaskLog, event: TaskEvent): boolean =>
  events.some(({ token, kind }) => token === event.token && kind === event.kind);

/**
 * Whether `event` is in its slot. An unclear answer is settled by repeating with the same token and
 * reading (`DESIGN.md` 5.2); it is never acted on.
 * @throws InvalidValueError for an event that no reader would take; nothing was written
 */
export async function appended(
  deps: LogWriterDeps,
  uid: TaskId,
  version: number,
  event: TaskEvent,
  durability: Durability = 'committed',
): Promise<boolean> {
  requireSound(event);
  for (let tries = 0; tries < 5; tries++) {
    const answer = await deps.board.append(uid, version, event, durability);
    if (answer !== 'unknown') return answer === 'appended';
    const log = await deps.board.read(uid);
    const there = log?.events[version - 1];
    if (there) return there.token === event.token;
    await deps.clock.sleep(50 * 2 ** tries * (0.5 + deps.random.fraction()));
  }
  throw new BoardUnavailableError(
    `The board gave no clear answer for task ${uid}, event ${version}. Nothing was decided; try again.`,
  );
}

/** One log line a transition. */
function report(deps: LogWriterDeps, before: TaskState, after: TaskState, event: TaskEvent): void {
  if (event.kind === 'receipted' || event.kind === 'noted') return;
  deps.log.info(`task.${event.kind}`, {
    taskId: after.taskId,
    contextId: after.contextId,
    agent: after.agentId,
    from: before.phase,
    to: after.phase,
    version: after.version,
    by: event.by.id,
    ...(after.claim ? { fence: after.claim.fence } : {}),
    ...(after.attempts > 0 ? { attempt: after.attempts } : {}),
  });
}
