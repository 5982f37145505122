import { BoardUnavailableError } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import { fold } from '../domain/fold.ts';
import { TaskId, type PrincipalId, type QueueId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { TaskBoard, TaskLog } from '../ports/task-board.ts';
import { BoardDisplay } from './board-display.ts';
import { BoardPoll } from './board-poll.ts';
import { BoardProjects, type Layout } from './board-projects.ts';
import { BoardTasks } from './board-tasks.ts';
import { ClaimBeats } from './claim-beats.ts';
import { ConversationCards } from './conversation-cards.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';
import type { BoardTask } from './kanboard-rows.ts';
import { LogMirror } from './log-mirror.ts';
import { DisplayDrift } from './display-drift.ts';
import { FamilyLinks } from './family-links.ts';
import { ActivityFeed } from './people/activity-feed.ts';
import { recordFiles } from './record-files.ts';
import { SlotLog } from './slot-log.ts';
import { SyncProjector } from './sync-projector.ts';

export interface KanboardBoardOptions {
  readonly rpc: KanboardRpc;
  /** The board's address for people, without a trailing slash. */
  readonly webUrl: string;
  /** Which mesh's tasks, where several share a Kanboard. */
  readonly boardId: string;
  /**
   * Logs as this process knows them, and the search over them: a board of its own that may be thrown away
   * and is made anew from Kanboard. Sync work lives there alone until it is projected.
   */
  readonly mirror: TaskBoard;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly layoutOf: (queue: QueueId) => Layout;
  readonly userOf: (projectId: number, principal: PrincipalId) => Promise<number | undefined>;
  /** Whether everybody who sees a queue's project may read what was said there; default: yes. */
  readonly showsWords?: (queue: QueueId) => boolean;
  /** Between two looks for what others changed; default 5 s. */
  readonly pollMs?: number;
}

/** The board, with what only the one on Kanboard has. */
export interface KanboardBoard extends TaskBoard {
  readonly parts: BoardParts;
  /** Looks for what others change, and brings sync work to the board, until `close`. */
  start(): void;
}

/** What stands behind the port, for those who bring what people do to it. */
export interface BoardParts {
  readonly rpc: KanboardRpc;
  readonly projects: BoardProjects;
  readonly tasks: BoardTasks;
  readonly logs: LogMirror;
  readonly display: BoardDisplay;
  readonly poll: BoardPoll;
  readonly beats: ClaimBeats;
  readonly projector: SyncProjector;
  readonly activity: ActivityFeed;
}

/**
 * TaskBoard on an unmodified Kanboard (`DESIGN.md` 5.2). Slots decide; what this process has read is
 * mirrored for search; board tasks show it to people. Nothing is asked before it is needed.
 */
export function openKanboardBoard(options: KanboardBoardOptions): KanboardBoard {
  const { mirror } = options;
  const parts = partsOf(options);
  const { poll, display, rpc, activity } = parts;
  const life = { isClosed: false };
  return {
    parts,
    ...logsOf(parts, options, life),
    ...searchOf(parts, options, life),
    start() {
      poll.start();
      parts.projector.start();
    },
    watch: (onChange) => mirror.watch(onChange),
    show(uid) {
      requireOpen(life);
      display.show(uid);
      return display.settled();
    },
    flush: () => mirror.flush(),
    async close() {
      if (life.isClosed) return;
      life.isClosed = true;
      await Promise.all([poll.stop(), parts.projector.stop()]);
      await activity.close();
      await display.close();
      rpc.close();
    },
  };
}

function partsOf(options: KanboardBoardOptions): BoardParts {
  const { rpc, clock, random, log, mirror, userOf } = options;
  const projects = new BoardProjects(options);
  const tasks = new BoardTasks({ rpc, projects, userOf, showsWords: options.showsWords });
  const files = recordFiles({ rpc, boardTaskOf: (task) => tasks.of(task) });
  const slots = new SlotLog({ rpc, clock, random, files });
  const logs = new LogMirror({ slots, mirror, log });
  const logOf = async (uid: TaskId) => (await mirror.read(uid))?.events ?? [];
  const links = new FamilyLinks({ rpc, mirror, tasks });
  const showing = { rpc, clock, log, projects, tasks, userOf, links, logOf };
  const display = new BoardDisplay({ ...showing, showsWords: options.showsWords });
  const drift = new DisplayDrift({ clock, mirror, logs, projects, tasks, display });
  const poll = new BoardPoll({ ...options, projects, tasks, logs, drift });
  const beats = new ClaimBeats({ rpc, clock, tasks });
  const conversations = new ConversationCards(options, projects);
  const projector = new SyncProjector({ ...options, logs, tasks, display, conversations });
  const activity = new ActivityFeed({ rpc, clock, log, projects, poll });
  return { rpc, projects, tasks, logs, display, poll, beats, projector, activity };
}

interface Life {
  isClosed: boolean;
}

function requireOpen({ isClosed }: Life): void {
  if (isClosed) throw new BoardUnavailableError('The board was closed. Open it again.');
}

function logsOf(
  parts: BoardParts,
  { mirror, webUrl }: KanboardBoardOptions,
  life: Life,
): Pick<TaskBoard, 'append' | 'read' | 'known' | 'beat'> {
  const { logs, tasks, display, beats } = parts;
  return {
    async append(uid, version, event, durability) {
      requireOpen(life);
      const { appended, isLocal } = await logs.append(uid, version, event, durability);
      if (isLocal || appended !== 'appended') return appended;
      if (version === 1) await makeVisible(parts, event);
      display.show(uid, version);
      return appended;
    },
    known: (uid) => mirror.read(uid),
    async read(uid) {
      requireOpen(life);
      const known = await mirror.read(uid);
      if (known && logs.isLocal(known.state)) return known;
      // Both in one go for what is known to be claimed, which is what is read most.
      const [fresh, early] = await Promise.all([
        logs.refresh(uid),
        known?.state.claim && tasks.known(uid) ? beats.ofState(known.state) : undefined,
      ]);
      if (fresh === undefined) return undefined;
      // Its submit may have got no further than the log: without a board task no other host would find it.
      if (fresh.state.version === 1 && !logs.isLocal(fresh.state)) await tasks.of(fresh.state);
      const isOfClaim = early && fresh.state.claim?.fence === early.version;
      const counted = isOfClaim ? early : await beats.ofState(fresh.state);
      return { ...fresh, beats: counted, ...refOf(tasks.known(uid), webUrl) };
    },
    async beat(uid, version) {
      requireOpen(life);
      const state = (await mirror.read(uid))?.state;
      if (state?.claim?.fence !== version) return;
      if (logs.isLocal(state)) return mirror.beat(uid, version);
      const namespace = await beats.beat(state);
      if (namespace) await logs.take(uid, namespace);
    },
  };
}

function refOf(row: BoardTask | undefined, webUrl: string): Pick<TaskLog, 'ref'> {
  if (row === undefined) return {};
  const boardTaskId = `${row.projectId}/${row.boardTaskId}`;
  return { ref: { boardTaskId, url: `${webUrl}/task/${row.boardTaskId}` } };
}

/** How long a search waits for the first look at the board. */
const firstLookMs = 10_000;

function searchOf(
  { rpc, poll, tasks, logs }: BoardParts,
  { mirror, clock }: KanboardBoardOptions,
  life: Life,
): Pick<TaskBoard, 'list' | 'find' | 'resolve' | 'depths'> {
  // While the board is away or hangs, what was mirrored before is what there is to see.
  const looked = async (): Promise<void> => {
    requireOpen(life);
    if (poll.isReady || rpc.isAway()) return;
    const late = new AbortController();
    const first = poll.ready().catch(() => undefined);
    await Promise.race([first, clock.sleep(firstLookMs, late.signal)]);
    late.abort();
  };
  return {
    list: (queue, nowMs, limit) => looked().then(() => mirror.list(queue, nowMs, limit)),
    find: (query) => looked().then(() => mirror.find(query)),
    depths: () => looked().then(() => mirror.depths()),
    /** Also `<project>/<number>`, `#<number>` and `task:` before either. */
    async resolve(taskRef) {
      await looked();
      const number = /^(?:task:)?(?:\d+\/|#)(\d+)$/.exec(taskRef)?.[1];
      if (number !== undefined) return tasks.find(Number(number));
      const found = await mirror.resolve(taskRef);
      if (found) return found;
      const whole = TaskId.safeParse(taskRef.replace(/^task:/, ''));
      return whole.success ? (await logs.refresh(whole.data))?.uid : undefined;
    },
  };
}

/** Acknowledged only with its board task there: what nobody could see or find again is not accepted. */
async function makeVisible({ tasks }: BoardParts, submit: TaskEvent): Promise<void> {
  const state = fold([submit]);
  if (state && tasks.known(state.taskId) === undefined) await tasks.make(state);
}
