import { z } from 'zod';
import { reasonOf } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BoardPoll } from '../board-poll.ts';
import type { BoardProject, BoardProjects } from '../board-projects.ts';
import { callsPerRequest, type KanboardRpc } from '../kanboard-rpc.ts';
import { call, resultOf } from '../kanboard-rows.ts';
import { ActivityHead, activityKeyOf, actOf } from './activity-rows.ts';
import type { OnAct, PersonAct } from './person-act.ts';

export interface ActivityFeedOptions {
  readonly rpc: KanboardRpc;
  readonly clock: Clock;
  readonly log: Log;
  readonly projects: BoardProjects;
  readonly poll: BoardPoll;
}

/** Hears that more was done in a project than can be read: what matters is to be seen from its tasks. */
export type OnMissed = (project: BoardProject) => Promise<void>;

/** Kanboard gives no more of it at once, and has no page after it. */
const rowsPerListing = 50;
/** What a first look takes in: nobody waits for a drag that did nothing for a day. */
const firstLookMs = 24 * 60 * 60_000;
/** Past this the eldest is forgotten; who hears of it again finds it taken. */
const mostRemembered = 10_000;

/** One who takes acts in, and what it has still to be told. */
interface Listener {
  readonly onAct: OnAct;
  readonly onMissed: OnMissed;
  /** Acts were read from here on. */
  readonly sinceMs: number;
  readonly heard: Set<string>;
  readonly due: Map<string, PersonAct>;
  readonly missed: Map<number, BoardProject>;
  readonly late: Set<string>;
}

/**
 * What people did, read with every look of the poll: one request more, for all projects together. Each
 * act is told in the order of Kanboard's numbers, at least once and without a memory that outlives the process: a
 * first look takes in the acts of a day, and who takes them finds in the logs what was taken before.
 */
export class ActivityFeed {
  readonly #options: ActivityFeedOptions;
  readonly #listeners = new Set<Listener>();
  #telling: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ActivityFeedOptions) {
    this.#options = options;
    options.poll.onRows(() => this.#look());
  }

  /**
   * Tells `onAct` every act from the last day on, and goes on until the returned function is called. An act
   * that it rejects is told again with the next look, and so, after it, the later ones of that task.
   */
  onAct(onAct: OnAct, onMissed: OnMissed = () => Promise.resolve()): () => void {
    const sinceMs = this.#options.clock.nowMs() - firstLookMs;
    const fresh = { heard: new Set<string>(), late: new Set<string>() };
    const listener = { onAct, onMissed, sinceMs, ...fresh, due: new Map(), missed: new Map() };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when what was read so far was told. */
  async settled(): Promise<void> {
    await this.#telling;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#telling;
  }

  async #look(): Promise<void> {
    const projects = this.#options.projects.all();
    if (this.#listeners.size === 0 || projects.length === 0 || this.#isClosed) return;
    const ids = projects.map(({ projectId }) => projectId);
    const newest = await this.#rows([call('getProjectActivities', { project_ids: ids })]);
    const rows = this.#hidesSome(newest[0] ?? []) ? await this.#each(projects) : newest.flat();
    for (const listener of this.#listeners) this.#take(listener, rows);
    // Not waited for: who takes an act in reads the board, which may be waiting for this very look.
    this.#telling ??= this.#tell().finally(() => {
      this.#telling = undefined;
    });
  }

  /** Every project for itself, since more was done than one listing of all shows. */
  async #each(projects: readonly BoardProject[]): Promise<readonly ActivityHead[]> {
    const calls = projects.map(({ projectId }) =>
      call('getProjectActivity', { project_id: projectId }),
    );
    const listings: (readonly ActivityHead[])[] = [];
    for (let from = 0; from < calls.length; from += callsPerRequest) {
      listings.push(...(await this.#rows(calls.slice(from, from + callsPerRequest))));
    }
    for (const [at, project] of projects.entries()) {
      for (const listener of this.#listeners) {
        if (!isCutFor(listener, listings[at] ?? [])) continue;
        listener.missed.set(project.projectId, project);
      }
    }
    return listings.flat();
  }

  async #rows(calls: readonly ReturnType<typeof call>[]) {
    const replies = await this.#options.rpc.batch(calls);
    return replies.map((reply) => resultOf(reply, z.array(ActivityHead), 'what people did'));
  }

  #hidesSome(rows: readonly ActivityHead[]): boolean {
    return [...this.#listeners].some((listener) => isCutFor(listener, rows));
  }

  #take(listener: Listener, rows: readonly ActivityHead[]): void {
    for (const row of [...rows].reverse()) {
      if (!isNewTo(listener, row)) continue;
      const key = activityKeyOf(row);
      listener.heard.add(key);
      const project = this.#options.projects.withId(row.project_id);
      const act = project && actOf(project, row);
      if (act) listener.due.set(key, act);
    }
    for (const key of listener.heard) {
      if (listener.heard.size <= mostRemembered) break;
      listener.heard.delete(key);
    }
  }

  /** All that is due; what a listener rejects waits for the next look. */
  async #tell(): Promise<void> {
    const failed = new Map([...this.#listeners].map((listener) => [listener, new Set<number>()]));
    for (;;) {
      const next = [...this.#listeners].map((one) => [one, nextFor(one, failed.get(one))] as const);
      const [listener, act] = next.find(([, due]) => due !== undefined) ?? [];
      if (!listener || !act || this.#isClosed) break;
      if (!(await this.#tellOne(listener, ...act))) {
        const tasks = failed.get(listener) ?? new Set();
        failed.set(listener, tasks.add(act[1].row.boardTaskId));
      }
    }
    for (const listener of this.#listeners) await this.#tellMissed(listener);
  }

  async #tellOne(listener: Listener, key: string, act: PersonAct): Promise<boolean> {
    try {
      await listener.onAct(act);
      listener.due.delete(key);
      listener.late.delete(key);
      return true;
    } catch (error) {
      this.#report(listener, key, error, { boardTaskId: String(act.row.boardTaskId) });
      return false;
    }
  }

  async #tellMissed(listener: Listener): Promise<void> {
    for (const [projectId, project] of listener.missed) {
      if (this.#isClosed) return;
      const key = `missed ${projectId}`;
      try {
        await listener.onMissed(project);
        listener.missed.delete(projectId);
        listener.late.delete(key);
      } catch (error) {
        this.#report(listener, key, error, { queue: project.queue });
      }
    }
  }

  /** One line, however often it is tried. */
  #report({ late }: Listener, key: string, error: unknown, fields: Record<string, string>): void {
    if (late.has(key)) return;
    late.add(key);
    this.#options.log.warn('board.act-late', { ...fields, reason: reasonOf(error) });
  }
}

const isNewTo = ({ heard, sinceMs }: Listener, row: ActivityHead): boolean =>
  row.date_creation * 1_000 >= sinceMs && !heard.has(activityKeyOf(row));

/** Nothing in it was heard before, so there may be more before it. */
const isCutFor = (listener: Listener, rows: readonly ActivityHead[]): boolean =>
  rows.length >= rowsPerListing && rows.every((row) => isNewTo(listener, row));

/** The eldest act of a task that none failed of in this round. */
function nextFor(
  { due }: Listener,
  failed: ReadonlySet<number> | undefined,
): readonly [string, PersonAct] | undefined {
  const open = [...due].filter(([, act]) => failed?.has(act.row.boardTaskId) !== true);
  return open.sort(([, a], [, b]) => a.activityId - b.activityId)[0];
}
