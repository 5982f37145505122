/** Something that happens at an instant of virtual time. */
interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  readonly isQuiet: boolean;
  isOff: boolean;
}

/** Virtual time: nothing happens but what was put into it, one thing after the other. */
export interface VirtualTime {
  /** Ms since the start. */
  nowMs(): number;
  /** Runs `run` after `ms`; the result takes it off again. */
  after(ms: number, run: () => void): () => void;
  /** As `after`, for what settles no promise: nothing needs to be followed. */
  quietly(ms: number, run: () => void): void;
  /** Goes on until `isOver`, or nothing is left, or `untilMs`. */
  run(untilMs: number, isOver: () => boolean): Promise<void>;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * A queue of instants. After each of them every promise that it settled is followed to its end (a turn
 * of the event loop), so the order of everything is that of the instants, and the same for one seed.
 */
export function virtualTime(): VirtualTime {
  const heap: Due[] = [];
  let nowMs = 0;
  let order = 0;
  const put = (ms: number, run: () => void, isQuiet: boolean): Due => {
    const due = { atMs: nowMs + Math.max(0, ms), order: order++, run, isQuiet, isOff: false };
    push(heap, due);
    return due;
  };
  return {
    nowMs: () => nowMs,
    after(ms, run) {
      const due = put(ms, run, false);
      return () => {
        due.isOff = true;
      };
    },
    quietly: (ms, run) => void put(ms, run, true),
    async run(untilMs, isOver) {
      await settled();
      while (!isOver()) {
        const due = pop(heap);
        if (due === undefined || due.atMs > untilMs) return;
        if (due.isOff) continue;
        nowMs = due.atMs;
        due.run();
        if (!due.isQuiet) await settled();
      }
    },
  };
}

const isSooner = (one: Due, other: Due): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

function push(heap: Due[], due: Due): void {
  let at = heap.push(due) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isSooner(due, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = due;
}

function pop(heap: Due[]): Due | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isSooner(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isSooner(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
