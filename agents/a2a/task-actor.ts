import type { TaskState } from '../../fabric/domain/state.ts';
import { FrameQueue, type Delivery } from './frame-queue.ts';
import { framesBetween, rests, type StreamFrame } from './stream-frame.ts';

/** Keeps a frame; resolves when it is committed, for frames that somebody may act on. */
export type KeepFrame = (
  uid: TaskState['taskId'],
  sequence: number,
  frame: StreamFrame,
  durability: 'committed' | 'buffered',
) => Promise<void>;

/** Most of a running answer that a late subscriber still gets, characters. */
const mostTextChars = 256 * 1024;

interface Waiter {
  readonly isDone: (state: TaskState) => boolean;
  readonly resolve: (state: TaskState) => void;
}

/** What a new subscriber starts from, taken at the instant it was attached. */
export interface Snapshot {
  readonly state: TaskState;
  /** The answer so far, while a run is at work. */
  readonly text: string;
  readonly sequence: number;
}

/**
 * The one writer of a task's stream at this edge: it numbers the frames and hands them to whoever is
 * attached. It lives as long as somebody looks or a run of this process is at work, not as long as a
 * connection; nothing it is told waits for a reader.
 */
export class TaskActor {
  readonly #incarnation: string;
  readonly #keep: KeepFrame;
  readonly #queues = new Set<FrameQueue>();
  readonly #waiters = new Set<Waiter>();
  #state: TaskState;
  #text = '';
  #sequence = 0;
  #onChange: ((state: TaskState) => void) | undefined;
  /** From the first subscriber on: only they can ever ask for a frame again. */
  #isKept = false;

  constructor(state: TaskState, incarnation: string, keep: KeepFrame) {
    this.#state = state;
    this.#incarnation = incarnation;
    this.#keep = keep;
  }

  get state(): TaskState {
    return this.#state;
  }

  get text(): string {
    return this.#text;
  }

  get isObserved(): boolean {
    return this.#queues.size > 0 || this.#waiters.size > 0;
  }

  /** Whether its frames are numbered and kept: since its first subscriber. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Frames were kept under this incarnation before, by an actor that was let go. */
  continueFrom(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  /** The run of this process wants to hear of changes before anybody else does. */
  tellFirst(onChange: (state: TaskState) => void): void {
    this.#onChange = onChange;
  }

  /** Takes note of a state of the task; an older one than known is ignored. */
  observe(state: TaskState): void {
    const before = this.#state;
    if (state.version <= before.version) return;
    this.#state = state;
    if (state.attempts > before.attempts) this.#text = '';
    for (const frame of framesBetween(before, state)) this.#emit(frame);
    this.#onChange?.(state);
    for (const waiter of this.#waiters) {
      if (waiter.isDone(state)) this.#settle(waiter);
    }
  }

  chunk(text: string): void {
    if (text === '') return;
    const first = this.#text === '';
    if (this.#text.length < mostTextChars) this.#text += text;
    this.#emit({ kind: 'chunk', text, first });
  }

  progress(text: string): void {
    this.#emit({ kind: 'progress', text });
  }

  /** Snapshot and attachment are one step: nothing comes twice and nothing is missed. */
  attach(): { readonly snapshot: Snapshot; readonly queue: FrameQueue } {
    const queue = new FrameQueue();
    this.#queues.add(queue);
    this.#isKept = true;
    const snapshot = { state: this.#state, text: this.#text, sequence: this.#sequence };
    return { snapshot, queue };
  }

  detach(queue: FrameQueue): void {
    queue.end();
    this.#queues.delete(queue);
  }

  /** Resolves with the state once `isDone` says so; `giveUp` resolves it with what there is then. */
  wait(isDone: Waiter['isDone']): {
    readonly done: Promise<TaskState>;
    readonly giveUp: () => void;
  } {
    let giveUp: () => void = () => undefined;
    const done = new Promise<TaskState>((resolve) => {
      const waiter = { isDone, resolve };
      this.#waiters.add(waiter);
      giveUp = () => this.#settle(waiter);
      if (isDone(this.#state)) giveUp();
    });
    return { done, giveUp };
  }

  /** Lets everybody go with what there is. */
  end(): void {
    for (const queue of this.#queues) queue.end();
    for (const waiter of this.#waiters) this.#settle(waiter);
  }

  #settle(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    waiter.resolve(this.#state);
  }

  #emit(frame: StreamFrame): void {
    if (!this.#isKept) return;
    this.#sequence += 1;
    const state = this.#state;
    const mustWait = frame.kind === 'state' && rests(state);
    const durability = mustWait ? 'committed' : 'buffered';
    const kept = this.#keep(state.taskId, this.#sequence, frame, durability);
    const id = { incarnation: this.#incarnation, sequence: this.#sequence };
    const delivery: Delivery = { id, frame, state, ...(mustWait ? { committed: kept } : {}) };
    for (const queue of this.#queues) {
      if (!queue.push(delivery)) this.#queues.delete(queue);
    }
  }
}
