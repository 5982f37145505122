import type { Command } from 'commander';
import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { closedPhases, type TaskState } from '../../fabric/domain/state.ts';
import { exitCodes } from '../exit-codes.ts';
import { waitsForMesh } from '../follow-task.ts';
import type { MeshConnection } from '../mesh-connection.ts';
import type { Result, Run, Session } from '../session.ts';
import { shortId, taskNamed } from '../task-ref.ts';
import { eventSentence } from '../text/event-sentence.ts';
import { standing } from '../text/phase-words.ts';
import { oneLine } from '../text/printable.ts';

const examples = `
Examples:
  mesh watch 1a2b3c4d                        until it is done, ends or asks somebody
  mesh watch                                 everything that happens, until Ctrl-C
  mesh watch --jsonl | jq -c '{taskId, kind}'
`;

interface WatchOptions {
  readonly jsonl?: true;
  readonly closed?: true;
}

const pollMs = 1_000;
/** How late another host's change may come to be seen; older ones are not read again. */
const lookBackMs = 10 * 60_000;

export function define(command: Command, run: Run): void {
  command
    .argument('[task]', 'its id, or 6 or more of its first digits; absent: all tasks')
    .option('--closed', 'go on until it is closed, through questions and verification')
    .option('--jsonl', 'each event as one line of JSON, as it comes')
    .addHelpText('after', examples)
    .action((ref: string | undefined, options: WatchOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        return ref === undefined
          ? watchAll(session, mesh, options)
          : watchTask(session, mesh, ref, options);
      }),
    );
}

async function watchTask(
  session: Session,
  mesh: MeshConnection,
  ref: string,
  options: WatchOptions,
): Promise<Result> {
  const { uid } = await taskNamed(mesh, ref);
  const id = shortId(uid);
  session.onInterrupt(`Stopped watching; task ${id} goes on. See: mesh show ${id}`);
  const hints = changeHints(mesh);
  try {
    let shown = 0;
    for (;;) {
      const log = await mesh.board.read(uid);
      if (log === undefined) throw new Error(`task ${id} is gone from the board`);
      for (const event of log.events.slice(shown)) show(session, options, uid, event);
      shown = log.events.length;
      // Whoever holds the home alone is the only one who could change it.
      if (mesh.inProcess) return lyingResult(session, options, log.state);
      if (isOver(log.state, options)) return watchedResult(session, options, log.state);
      session.progress(standing(id, log.state));
      await session.clock.sleep(pollMs, AbortSignal.any([session.signal, hints.next()]));
      session.signal.throwIfAborted();
    }
  } finally {
    hints.stop();
  }
}

const atRest: ReadonlySet<TaskState['phase']> = new Set([
  ...closedPhases,
  'input-required',
  'needs-review',
  'done',
  'dead-letter',
]);

function isOver(state: TaskState, { closed }: WatchOptions): boolean {
  if (state.phase === 'done' && state.task.verification === 'none') return true;
  return (closed ? closedPhases : atRest).has(state.phase);
}

const failed: ReadonlySet<TaskState['phase']> = new Set([
  'refused',
  'dead-letter',
  'canceled',
  'rejected',
]);

function watchedResult(session: Session, { jsonl }: WatchOptions, state: TaskState): Result {
  const waits = state.phase === 'input-required' || state.phase === 'needs-review';
  const bad = failed.has(state.phase) ? exitCodes.taskFailed : exitCodes.ok;
  const text = `${standing(shortId(state.taskId), state)}.`;
  if (!jsonl && !session.globals.json) session.note(text);
  return {
    data: state,
    text: '',
    exitCode: waits ? exitCodes.taskWaits : bad,
    ...(jsonl ? { silent: true } : {}),
  };
}

/** Where no mesh runs, whatever is not over waits. */
function lyingResult(session: Session, options: WatchOptions, state: TaskState): Result {
  const result = watchedResult(session, options, state);
  if (isOver(state, options)) return result;
  session.note(waitsForMesh);
  return { ...result, exitCode: exitCodes.taskWaits };
}

/** Every change of every task, eldest first; never ends but by Ctrl-C. */
async function watchAll(
  session: Session,
  mesh: MeshConnection,
  options: WatchOptions,
): Promise<Result> {
  if (mesh.inProcess) {
    throw new BoardUnavailableError(
      'Nothing happens while no mesh runs here. Start one with `mesh up`, then watch it.',
    );
  }
  session.onInterrupt('Stopped watching; everything goes on.');
  const hints = changeHints(mesh);
  const versions = new Map<TaskId, number>();
  const startMs = session.clock.nowMs();
  try {
    for (;;) {
      const changedSinceMs = Math.max(startMs, session.clock.nowMs() - lookBackMs) - pollMs;
      const page = await mesh.board.find({ changedSinceMs, limit: 500 });
      for (const { taskId, version } of [...page.states].reverse()) {
        if (versions.get(taskId) === version) continue;
        const log = await mesh.board.read(taskId);
        const fresh = log?.events.slice(versions.get(taskId) ?? 0) ?? [];
        for (const event of fresh) {
          if (event.atMs >= changedSinceMs) show(session, options, taskId, event);
        }
        versions.set(taskId, version);
      }
      await session.clock.sleep(pollMs, AbortSignal.any([session.signal, hints.next()]));
      session.signal.throwIfAborted();
    }
  } finally {
    hints.stop();
  }
}

/** Wakes the poll when the board says that something changed; a lost hint costs one poll's time. */
function changeHints({ board }: MeshConnection) {
  let hint = new AbortController();
  const stop = board.watch(() => {
    hint.abort();
  });
  return {
    stop,
    next(): AbortSignal {
      if (hint.signal.aborted) hint = new AbortController();
      return hint.signal;
    },
  };
}

function show(session: Session, { jsonl }: WatchOptions, uid: TaskId, event: TaskEvent): void {
  const { terminal, globals, clock } = session;
  if (jsonl) terminal.out(`${JSON.stringify({ taskId: uid, ...event })}\n`);
  else if (!globals.json) {
    const time = new Date(event.atMs).toISOString().slice(11, 19);
    const sentence = oneLine(eventSentence(event, clock.nowMs()));
    terminal.out(`${time}  ${shortId(uid)}  ${sentence}\n`);
  }
}
