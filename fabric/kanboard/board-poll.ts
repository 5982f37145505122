import { z } from 'zod';
import { reasonOf } from '../domain/errors.ts';
import type { TaskId } from '../domain/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Random } from '../ports/random.ts';
import type { TaskBoard } from '../ports/task-board.ts';
import type { BoardProject, BoardProjects } from './board-projects.ts';
import { uidOf, type BoardTasks } from './board-tasks.ts';
import type { DisplayDrift } from './display-drift.ts';
import { callsPerRequest, type Call, type KanboardRpc } from './kanboard-rpc.ts';
import { BoardTask, call, resultOf } from './kanboard-rows.ts';
import type { LogMirror } from './log-mirror.ts';

export interface BoardPollOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly projects: BoardProjects;
  readonly tasks: BoardTasks;
  readonly logs: LogMirror;
  readonly mirror: Pick<TaskBoard, 'find'>;
  readonly drift: DisplayDrift;
  readonly pollMs?: number;
}

/** Hears of board tasks that changed since the last look; of those that are not ours, too. */
export type OnRows = (rows: readonly SeenRow[]) => Promise<void>;
export interface SeenRow {
  readonly project: BoardProject;
  readonly row: BoardTask;
  readonly uid: TaskId | undefined;
}

/** Minutes of change that are looked at again: dates of a search have no seconds, and hosts' clocks differ. */
const overlapMs = 90_000;
const defaultPollMs = 5_000;
/** Logs that a look reads again although nothing shows that they changed; a thousand take two minutes. */
const rereadAtOnce = 2 * callsPerRequest;

/**
 * Keeps the mirror up to date with what other hosts and people write. A first look reads every open task's
 * log, later ones those whose board tasks changed and, in turn, some others: who wrote an event may have died
 * before it showed it, and a claim that no keeper ever saw would hold its task for ever. Hints wake it; the
 * look is the truth.
 */
export class BoardPoll {
  readonly #options: BoardPollOptions;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<OnRows>();
  #first: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #sinceMs = 0;
  #rereadFrom: string | undefined;
  #isDown = false;

  constructor(options: BoardPollOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the first look is done.
   * @throws BoardUnavailableError when it could not be; the next call tries again
   */
  ready(): Promise<void> {
    this.#first ??= this.#look().catch((error: unknown) => {
      this.#first = undefined;
      throw error;
    });
    return this.#first;
  }

  get isReady(): boolean {
    return this.#sinceMs > 0;
  }

  /** Looks every `pollMs` until `stop`. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Something changed: look now. */
  wake(): void {
    this.#wake?.();
  }

  onRows(listener: OnRows): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.drift.close();
    this.#wake?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, random, log, pollMs = defaultPollMs } = this.#options;
    while (this.#isRunning()) {
      try {
        await (this.#first === undefined ? this.ready() : this.#look());
        if (this.#isDown) log.info('board.back');
        this.#isDown = false;
      } catch (error) {
        if (!this.#isDown) log.warn('board.down', { reason: reasonOf(error) });
        this.#isDown = true;
      }
      if (!this.#isRunning()) return;
      const napping = new AbortController();
      this.#wake = () => {
        napping.abort();
      };
      await clock.sleep(pollMs * (0.75 + random.fraction() / 2), napping.signal);
    }
  }

  #isRunning(): boolean {
    return !this.#stopping.signal.aborted;
  }

  async #look(): Promise<void> {
    const { rpc, projects, clock, tasks, logs, drift } = this.#options;
    const isFirst = this.#sinceMs === 0;
    const all = await projects.refresh();
    // By the board's clock: changes are dated by it, and this host's may be hours off.
    const startedMs = rpc.boardNowMs() ?? clock.nowMs();
    const seen = await this.#rows(all, isFirst);
    const changed: TaskId[] = [];
    const twins: BoardTask[] = [];
    for (const { uid, row } of seen) {
      if (uid === undefined) continue;
      tasks.remember(uid, row);
      if (tasks.isTwin(uid, row)) twins.push(row);
      drift.suspect(uid);
      changed.push(uid);
    }
    await logs.refreshMany(isFirst ? changed : [...changed, ...(await this.#inTurn(changed))]);
    for (const twin of twins) await this.#putAway(twin);
    for (const listener of this.#listeners) await listener(seen);
    await drift.repair();
    this.#sinceMs = startedMs;
  }

  /** A second board task of one task: nothing is lost with it, since what it shows is in the log. */
  async #putAway({ boardTaskId: id }: BoardTask): Promise<void> {
    const content = 'This task was put on the board twice. It goes on on the other one.';
    await this.#options.rpc.batch([
      call('createComment', { task_id: id, user_id: 0, content }),
      call('updateTask', { id, reference: 'mesh:twin' }),
      call('closeTask', { task_id: id }),
    ]);
  }

  /** The next of all open tasks, page by page, without those that are read anyway. */
  async #inTurn(changed: readonly TaskId[]): Promise<readonly TaskId[]> {
    const { mirror, logs } = this.#options;
    const from = this.#rereadFrom === undefined ? {} : { cursor: this.#rereadFrom };
    const page = await mirror.find({ openOnly: true, limit: rereadAtOnce, ...from });
    this.#rereadFrom = page.cursor;
    return page.states.flatMap((state) =>
      logs.isLocal(state) || changed.includes(state.taskId) ? [] : [state.taskId],
    );
  }

  async #rows(all: readonly BoardProject[], isFirst: boolean): Promise<SeenRow[]> {
    const since = isoMinute(this.#sinceMs - overlapMs);
    const query = isFirst ? 'status:open' : `modified:">=${since}"`;
    const calls = all.map(({ projectId }): Call =>
      call('searchTasks', { project_id: projectId, query }),
    );
    const seen: SeenRow[] = [];
    for (let from = 0; from < calls.length; from += callsPerRequest) {
      const replies = await this.#options.rpc.batch(calls.slice(from, from + callsPerRequest));
      for (const [at, reply] of replies.entries()) {
        const project = all[from + at];
        if (project === undefined) continue;
        for (const row of resultOf(reply, BoardRows, 'the board tasks of a project')) {
          const uid = uidOf(row.reference);
          if (!isFirst && uid && this.#isAsSeen(uid, row)) continue;
          seen.push({ project, row, uid });
        }
      }
    }
    return seen;
  }

  /** Nothing of it changed since this process saw it, in a second that is over. */
  #isAsSeen(uid: TaskId, row: BoardTask): boolean {
    const known = this.#options.tasks.known(uid);
    const isSettled = row.modifiedAtMs < this.#sinceMs - 2_000;
    return isSettled && known?.modifiedAtMs === row.modifiedAtMs && known.columnId === row.columnId;
  }
}

const BoardRows = z.array(BoardTask);

const isoMinute = (atMs: number): string =>
  new Date(Math.max(0, atMs)).toISOString().slice(0, 16).replace('T', ' ');
