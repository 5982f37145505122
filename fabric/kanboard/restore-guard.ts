import { z } from 'zod';
import { reasonOf } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { BoardProjects } from './board-projects.ts';
import { call, Metadata, resultOf } from './kanboard-rows.ts';
import type { KanboardRpc } from './kanboard-rpc.ts';

/** What a home remembers of the stamps that it has left on a board. */
export const StampMemory = z.strictObject({
  /** Names this home's own stamp: nobody else writes it, so it only grows. */
  home: z.string().regex(/^[0-9a-f]{16}$/),
  stamp: z.int().nonnegative(),
  /** Written without a clear answer: they may come yet. */
  unclear: z.array(z.int()).max(100),
  /** Since when work is held, and what the board had. */
  restored: z
    .strictObject({ atMs: z.int(), boardStamp: z.int(), boardAtMs: z.int().optional() })
    .optional(),
});
export type StampMemory = z.infer<typeof StampMemory>;

export interface RestoreGuardOptions {
  readonly rpc: KanboardRpc;
  readonly projects: BoardProjects;
  readonly clock: Clock;
  readonly log: Log;
  readonly load: () => Promise<StampMemory>;
  readonly save: (memory: StampMemory) => Promise<void>;
  /** Looks only: another process of the home leaves its stamps. */
  readonly isReader: boolean;
}

const why =
  'The board was restored from a backup: it knows less than this mesh has done. Nothing is taken or written ' +
  'there until you have looked at it and run: mesh board restore --accept';
const everyMs = 60_000;
/** A write that was given up on comes within so many later ones, or never. */
const stillOnItsWay = 10;

/**
 * Tells a board that was restored from a backup: a home leaves a growing number there and remembers it; a
 * lower one than remembered says that what came after it is gone, while the world has it. Nothing of this
 * board is worked on then until a person has accepted it (`DESIGN.md` 5.2).
 */
export class RestoreGuard {
  readonly #options: RestoreGuardOptions;
  readonly #stopping = new AbortController();
  #first: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #why: string | undefined;
  #remembered: Promise<StampMemory> | undefined;

  constructor(options: RestoreGuardOptions) {
    this.#options = options;
  }

  /** Why work is held; undefined where it is not, or while the board can't say. */
  async why(): Promise<string | undefined> {
    this.#first ??= this.#tried();
    await this.#first;
    return this.#why;
  }

  /** The same as far as it is known here: the board is not asked, which may be away. */
  async known(): Promise<string | undefined> {
    if (this.#first !== undefined) return this.#why;
    this.#remembered ??= this.#options.load();
    return (await this.#remembered).restored && why;
  }

  start(): void {
    this.#loop ??= (async () => {
      const { signal } = this.#stopping;
      for (;;) {
        await this.#options.clock.sleep(everyMs, signal);
        if (signal.aborted) return;
        await this.#tried();
      }
    })();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #tried(): Promise<void> {
    try {
      await this.#look();
    } catch (error) {
      // Not known: whatever is written next finds the board away, too, or it is asked once more.
      this.#first = undefined;
      this.#options.log.debug('board.stamp-unknown', { reason: reasonOf(error) });
    }
  }

  async #look(): Promise<void> {
    const { clock, load, save, log, isReader } = this.#options;
    const memory = await load();
    const held = memory.restored;
    if (held === undefined) {
      const there = await this.#read(memory);
      const boardStamp = there?.stamp ?? 0;
      const isKnown = boardStamp >= memory.stamp || memory.unclear.includes(boardStamp);
      if (isKnown) {
        this.#why = undefined;
        if (!isReader) await this.#write(memory, boardStamp);
        return;
      }
      const seen = there?.atMs === undefined ? {} : { boardAtMs: there.atMs };
      const restored = { atMs: clock.nowMs(), boardStamp, ...seen };
      if (!isReader) await save({ ...memory, restored });
      log.error('board.restored', { stamp: boardStamp, remembered: memory.stamp });
    }
    this.#why = why;
  }

  async #project(): Promise<number | undefined> {
    const ids = [...(await this.#options.projects.registered()).values()];
    return ids.length === 0 ? undefined : Math.min(...ids);
  }

  async #read({ home }: StampMemory): Promise<{ stamp: number; atMs: number } | undefined> {
    const projectId = await this.#project();
    if (projectId === undefined) return undefined;
    const asking = call('getProjectMetadata', { project_id: projectId });
    const [reply] = await this.#options.rpc.batch([asking]);
    const text = resultOf(reply, Metadata, 'the stamp of the mesh')[keyOf(home)];
    const [stamp = NaN, atMs = NaN] = (text ?? '').split(' ').map(Number);
    return Number.isSafeInteger(stamp) && Number.isSafeInteger(atMs) ? { stamp, atMs } : undefined;
  }

  /** Remembered as unclear first and as left last, so that no answer that is lost looks like a restored board. */
  async #write(memory: StampMemory, boardStamp: number): Promise<void> {
    const { rpc, clock, save } = this.#options;
    const projectId = await this.#project();
    if (projectId === undefined) return;
    const stamp = Math.max(boardStamp, memory.stamp, ...memory.unclear) + 1;
    const unclear = [...memory.unclear, stamp].slice(-100);
    await save({ ...memory, unclear });
    const values = { [keyOf(memory.home)]: `${stamp} ${clock.nowMs()}` };
    const [reply] = await rpc.batch([
      call('saveProjectMetadata', { project_id: projectId, values }),
    ]);
    resultOf(reply, z.literal(true), 'the stamp of the mesh');
    // What was unclear a moment ago may still come, late, and then is no restored board either.
    const late = memory.unclear.filter((one) => one > stamp - stillOnItsWay);
    await save({ ...memory, stamp, unclear: late });
  }
}

const keyOf = (home: string): string => `mesh.stamp.${home}`;
