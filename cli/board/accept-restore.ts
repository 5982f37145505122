import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openCardRegistry } from '../../cards/registry/card-registry.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import type { Author } from '../../fabric/domain/events.ts';
import { PrincipalId, type TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { lockHome } from '../../fabric/embedded/home-lock.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import type { LogWriterDeps } from '../../fabric/queue/deps.ts';
import { pinoLog } from '../../fabric/telemetry/pino-log.ts';
import type { Closers } from '../closers.ts';
import { homeInUse } from '../home-in-use.ts';
import { mirrorPath, openUnguarded } from '../kanboard-home.ts';
import type { Session } from '../session.ts';
import { boardGround, type BoardGround } from './board-ground.ts';
import { folderBefore, setAside } from './freeze.ts';
import { loadStamp, saveStamp, stampFile } from './guarded-board.ts';

export interface Accepted {
  /** The restored board's own last word, where it has one. */
  readonly boardAtMs?: number;
  /** Held for a person: what this home saw going further than the board knows, or what it can't vouch for. */
  readonly held: readonly {
    readonly taskId: TaskId;
    readonly phase: string;
    readonly title: string;
  }[];
  /** This home knew them and the board does not: they are to be submitted again. */
  readonly lost: readonly { readonly taskId: TaskId; readonly title: string }[];
  /** Where the mirror from before lies. */
  readonly mirrorBefore: string;
}

const reason = 'the board was restored from a backup';

/**
 * Takes a restored board for what it is. Whatever may have gone further than it knows waits for a person; the rest
 * is worked on again.
 */
export async function acceptRestore(
  session: Session,
  board: string | undefined,
  closers: Closers,
): Promise<Accepted> {
  const ground = await boardGround(session, board, closers);
  await holdHome(ground, closers);
  const file = stampFile(ground.paths, ground.access);
  const memory = await loadStamp(file, session.random);
  if (memory.restored === undefined) {
    throw new MeshError(
      'BAD_TRANSITION',
      'This home holds no restored board: nothing is to be accepted. It finds out at the start of `mesh up`.',
    );
  }
  const path = mirrorPath(ground.paths, ground.access);
  const { atMs, boardAtMs, boardStamp } = memory.restored;
  const folder = folderBefore(path, atMs);
  // `mesh board restore <file>` has set it aside already; what lies there now was read from the restored board.
  if (!existsSync(folder)) await setAside(path, folder);
  const before = await statesIn(join(folder, 'mirror.db'), session);
  const reconciled = await reconcile(session, ground, before, closers);
  await saveStamp(file, { home: memory.home, stamp: boardStamp, unclear: [] });
  return { ...reconciled, mirrorBefore: folder, ...(boardAtMs === undefined ? {} : { boardAtMs }) };
}

/** A running mesh would go on with what it remembers. */
async function holdHome({ paths, frontUrl, access }: BoardGround, closers: Closers): Promise<void> {
  if (frontUrl !== undefined) {
    throw new MeshError('FABRIC_DOWN', 'Stop `mesh up` first: it goes by what it remembers.');
  }
  // Its own Kanboard is started under the lock already.
  if (access.own) return;
  const lock = await lockHome(paths.lock, { pid: process.pid, command: 'mesh board restore' });
  if (lock.kind !== 'locked') throw homeInUse(paths.home, lock.holder);
  closers.add(() => {
    lock.release();
  });
}

async function statesIn(path: string, session: Session): Promise<ReadonlyMap<TaskId, TaskState>> {
  const log = pinoLog({ level: 'silent' });
  const mirror = await openEmbeddedBoard({ path, clock: session.clock, log });
  try {
    const states = await all(mirror, {});
    return new Map(states.map((state) => [state.taskId, state]));
  } finally {
    await mirror.close();
  }
}

async function all(board: TaskBoard, query: { openOnly?: boolean }): Promise<TaskState[]> {
  const states: TaskState[] = [];
  let cursor: string | undefined;
  do {
    const page = await board.find({ ...query, limit: 500, ...(cursor && { cursor }) });
    states.push(...page.states);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return states;
}

async function reconcile(
  session: Session,
  { paths, config, environment, access }: BoardGround,
  before: ReadonlyMap<TaskId, TaskState>,
  closers: Closers,
): Promise<Pick<Accepted, 'held' | 'lost'>> {
  const { clock, random } = session;
  const log = pinoLog({ level: 'silent' });
  const registry = await openCardRegistry({
    ...{ home: paths.home, stateDir: paths.state, branch: config.registry.branch, clock, log },
    ...{ defaultHuman: () => config.defaultHuman, environment: environment.all },
  });
  closers.add(() => registry.close());
  const mirror = await openEmbeddedBoard({ path: mirrorPath(paths, access), clock, log });
  closers.add(() => mirror.close());
  const deps = { directory: registry.directory(), mirror, clock, random, log };
  const board = openUnguarded(access, deps);
  closers.add(() => board.close());
  await board.parts.poll.ready();
  const writer: LogWriterDeps = { board, clock, random, log };
  const human: Author = { id: PrincipalId.parse(config.defaultHuman), role: 'human' };
  const held: Accepted['held'][number][] = [];
  for (const state of await all(board, { openOnly: true })) {
    const known = before.get(state.taskId);
    // What stands here as it stood there was not touched, as far as this home has seen.
    if (known?.version === state.version) continue;
    const after = await hold(writer, state, human);
    held.push({ taskId: state.taskId, phase: after.phase, title: state.task.intent.title });
  }
  return { held, lost: await lostOf(board, before) };
}

/** A run may have ended, and what waits may have been done: neither begins again without a person. */
async function hold(writer: LogWriterDeps, state: TaskState, human: Author): Promise<TaskState> {
  const keeper: Author = { id: PrincipalId.parse('keeper'), role: 'keeper' };
  let now = state;
  const { claim } = now;
  if (claim) {
    now = await change(writer, state.taskId, (log) =>
      log.state.claim?.fence === claim.fence
        ? eventOf(writer, keeper, 'expired', { fence: claim.fence, reason })
        : undefined,
    );
  }
  if (!mayPause.has(now.phase)) return now;
  return change(writer, state.taskId, (log) =>
    mayPause.has(log.state.phase) ? eventOf(writer, human, 'paused', {}) : undefined,
  );
}

const mayPause: ReadonlySet<string> = new Set(['submitted', 'ready', 'scheduled']);

async function lostOf(
  board: TaskBoard,
  before: ReadonlyMap<TaskId, TaskState>,
): Promise<Accepted['lost']> {
  const lost: Accepted['lost'][number][] = [];
  for (const state of before.values()) {
    if (state.task.mode === 'sync') continue;
    if ((await board.read(state.taskId)) !== undefined) continue;
    lost.push({ taskId: state.taskId, title: state.task.intent.title });
  }
  return lost;
}
