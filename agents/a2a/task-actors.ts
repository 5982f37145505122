import { a2aViewOf, isResting } from '../../fabric/domain/a2a-state.ts';
import { mayVerify } from '../../fabric/domain/access.ts';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Journal } from '../../fabric/ports/journal.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { unknownTask } from '../../fabric/queue/refusals.ts';
import type { EventId } from './event-id.ts';
import type { Delivery } from './frame-queue.ts';
import { resumedFrames } from './resume.ts';
import { TaskActor, type KeepFrame, type Snapshot } from './task-actor.ts';

export interface TaskActorsOptions {
  readonly queue: Pick<QueueDeps, 'board' | 'clock' | 'log'>;
  readonly journal: Journal;
  /** This process's own name, part of every event id it gives out. */
  readonly incarnation: string;
  /** The process is stopping: whoever waits gets what there is. */
  readonly stopping: AbortSignal;
  /** Between two looks at the board for changes whose hints were lost, ms. */
  readonly pollMs?: number;
}

export interface Waiting {
  readonly waitMs: number;
  /** The caller hung up. */
  readonly gone?: AbortSignal;
}

export interface Subscription {
  /** The task when the subscriber was attached. */
  readonly state: TaskState;
  /** What the stream begins with; absent where it goes on exactly after the id that was asked for. */
  readonly snapshot: Snapshot | undefined;
  /** The id asked for could not be found: the snapshot takes the place of all before it. */
  readonly isReset: boolean;
  /** Event id of the snapshot. */
  readonly id: EventId;
  /** Frames of the past that come before the snapshot. */
  readonly replay: readonly Delivery[];
  next(): Promise<Delivery | undefined>;
  close(): void;
}

/** The streams and waiting calls of all tasks at this process. */
export interface TaskActors {
  /**
   * A run of this process begins: from here on its chunks are kept for whoever looks. `onChange` hears
   * of the task's changes before those who wait do.
   */
  begin(task: TaskState, onChange: (state: TaskState) => void): void;
  /** A piece of the answer, from a run of this process. */
  chunk(uid: TaskId, text: string): void;
  /** A sentence of a run of this process about what it does now. */
  progress(uid: TaskId, text: string): void;
  /** The answer so far of a run of this process; empty when none is at work. */
  textOf(uid: TaskId): string;
  /** The task once `isDone`, else as it is when the time is over or the caller has gone. */
  waitFor(
    task: TaskState,
    isDone: (state: TaskState) => boolean,
    waiting: Waiting,
  ): Promise<TaskState>;
  /** The task once it is terminal, interrupted or done, for a caller who waits. */
  waitUntilResting(task: TaskState, principal: Principal, waiting: Waiting): Promise<TaskState>;
  /**
   * Attaches to a task's stream, from its present state or exactly after an event that was seen.
   * @throws MeshError `NOT_FOUND` for an unknown uid
   */
  subscribe(uid: TaskId, after?: EventId): Promise<Subscription>;
  /** Stops listening to the board and lets everybody go. */
  close(): void;
}

/** @see TaskActors */
export function createTaskActors(options: TaskActorsOptions): TaskActors {
  return new Actors(options);
}

class Actors implements TaskActors {
  readonly #options: TaskActorsOptions;
  readonly #actors = new Map<TaskId, TaskActor>();
  readonly #closed = new AbortController();
  #isSweeping = false;

  constructor(options: TaskActorsOptions) {
    this.#options = options;
    const unwatch = options.queue.board.watch((uid, state) => this.#onChange(uid, state));
    this.#closed.signal.addEventListener('abort', unwatch, { once: true });
    options.stopping.addEventListener('abort', () => this.close(), { once: true });
  }

  begin(task: TaskState, onChange: (state: TaskState) => void): void {
    if (!this.#closed.signal.aborted) this.#actorOf(task).tellFirst(onChange);
  }

  chunk(uid: TaskId, text: string): void {
    this.#actors.get(uid)?.chunk(text);
  }

  progress(uid: TaskId, text: string): void {
    this.#actors.get(uid)?.progress(text);
  }

  textOf(uid: TaskId): string {
    return this.#actors.get(uid)?.text ?? '';
  }

  async waitFor(
    task: TaskState,
    isDone: (state: TaskState) => boolean,
    { waitMs, gone }: Waiting,
  ): Promise<TaskState> {
    if (isDone(task) || this.#closed.signal.aborted) return task;
    const actor = this.#actorOf(task);
    const { done, giveUp } = actor.wait(isDone);
    const callOff = this.#options.queue.clock.after(waitMs, giveUp);
    gone?.addEventListener('abort', giveUp, { once: true });
    if (gone?.aborted) giveUp();
    this.#sweepWhileObserved();
    try {
      return await done;
    } finally {
      callOff();
      gone?.removeEventListener('abort', giveUp);
      this.#letGo(actor);
    }
  }

  waitUntilResting(task: TaskState, principal: Principal, waiting: Waiting): Promise<TaskState> {
    const isDone = (state: TaskState) => isResting(a2aViewOf(state, mayVerify(state, principal)));
    return this.waitFor(task, isDone, waiting);
  }

  async subscribe(uid: TaskId, after?: EventId): Promise<Subscription> {
    const { queue, journal, incarnation } = this.#options;
    const log = await queue.board.read(uid);
    if (log === undefined) throw unknownTask(uid);
    // An actor that was let go in between has used up some numbers of this incarnation.
    const isNumbered = this.#actors.get(uid)?.isKept ?? false;
    const kept = isNumbered ? [] : await journal.read(uid, incarnation, 0);
    const actor = this.#actorOf(log.state);
    actor.continueFrom(kept.at(-1)?.sequence ?? 0);
    const { snapshot, queue: frames } = actor.attach();
    if (this.#closed.signal.aborted) frames.end();
    this.#sweepWhileObserved();
    const id = { incarnation, sequence: snapshot.sequence };
    const close = () => {
      actor.detach(frames);
      this.#letGo(actor);
    };
    const rest = { id, state: snapshot.state, next: () => frames.next(), close };
    if (after === undefined) return { ...rest, snapshot, isReset: false, replay: [] };
    try {
      const resumed = await resumedFrames({ board: queue.board, journal }, uid, after, id);
      if (resumed === undefined) return { ...rest, snapshot, isReset: true, replay: [] };
      const isExact = after.incarnation === incarnation;
      return { ...rest, replay: resumed, isReset: false, snapshot: isExact ? undefined : snapshot };
    } catch (error) {
      close();
      throw error;
    }
  }

  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    for (const actor of this.#actors.values()) actor.end();
    this.#actors.clear();
  }

  #onChange(uid: TaskId, state: TaskState): void {
    const actor = this.#actors.get(uid) ?? (this.#isRunHere(state) ? this.#actorOf(state) : null);
    if (actor === null) return;
    actor.observe(state);
    this.#letGo(actor);
  }

  #actorOf(state: TaskState): TaskActor {
    const known = this.#actors.get(state.taskId);
    if (known) {
      known.observe(state);
      return known;
    }
    const actor = new TaskActor(state, this.#options.incarnation, this.#keep);
    this.#actors.set(state.taskId, actor);
    return actor;
  }

  readonly #keep: KeepFrame = async (uid, sequence, frame, durability) => {
    const { journal, incarnation, queue } = this.#options;
    try {
      await journal.append(uid, { sequence, incarnation, frame }, durability);
    } catch (error) {
      // The board has the truth; what is lost is only the exact way there after a crash.
      queue.log.warn('edge.frame-lost', { taskId: uid, sequence, reason: reasonOf(error) });
    }
  };

  #isRunHere({ claim, phase }: TaskState): boolean {
    const isRun = phase === 'claimed' || phase === 'working';
    return isRun && claim?.incarnation === this.#options.incarnation;
  }

  /** Forgets a task that nobody looks at and that is not at work here. */
  #letGo(actor: TaskActor): void {
    if (actor.isObserved || this.#isRunHere(actor.state)) return;
    if (this.#actors.get(actor.state.taskId) === actor) this.#actors.delete(actor.state.taskId);
  }

  /** Hints of the board may be lost; so those who are looked at are read now and then. */
  #sweepWhileObserved(): void {
    if (this.#isSweeping || this.#closed.signal.aborted) return;
    this.#isSweeping = true;
    void this.#sweep().finally(() => {
      this.#isSweeping = false;
    });
  }

  async #sweep(): Promise<void> {
    const { queue, pollMs = limits.pollMs } = this.#options;
    for (;;) {
      await queue.clock.sleep(pollMs, this.#closed.signal);
      const observed = [...this.#actors.values()].filter((actor) => actor.isObserved);
      if (observed.length === 0 || this.#closed.signal.aborted) return;
      for (const actor of observed) await this.#refresh(actor);
    }
  }

  async #refresh(actor: TaskActor): Promise<void> {
    const { board, log } = this.#options.queue;
    const uid = actor.state.taskId;
    try {
      const found = await board.read(uid);
      if (found) this.#onChange(uid, found.state);
    } catch (error) {
      log.debug('edge.refresh-failed', { taskId: uid, reason: reasonOf(error) });
    }
  }
}
