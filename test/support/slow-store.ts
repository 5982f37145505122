import type { EmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Journal } from '../../fabric/ports/journal.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';

export interface SlowStore {
  readonly board: TaskBoard;
  readonly journal: Journal;
  /** Writes that have been asked for and are not done yet. */
  readonly underWay: () => readonly string[];
  /** Every write that was asked for, in order: `board submitted`, `journal chunk buffered`. */
  readonly asked: readonly string[];
}

/**
 * The store before `inner` on a slow disk: each write, buffered ones too, takes `writeMs` of `clock`. On
 * a clock that a test moves, time stands still until the test lets a write end.
 */
export function slowStore(
  inner: EmbeddedBoard,
  { clock, writeMs }: { readonly clock: Clock; readonly writeMs: number },
): SlowStore {
  const waiting = new Map<symbol, string>();
  const asked: string[] = [];
  const slowly = async <T>(what: string, write: () => Promise<T>): Promise<T> => {
    const key = Symbol(what);
    asked.push(what);
    waiting.set(key, what);
    await clock.sleep(writeMs);
    const done = await write();
    waiting.delete(key);
    return done;
  };
  return {
    asked,
    underWay: () => [...waiting.values()],
    board: {
      ...bound(inner),
      append: (uid, version, event, durability) =>
        slowly(`board ${event.kind}`, () => inner.append(uid, version, event, durability)),
    },
    journal: {
      append: (uid, frame, durability) => {
        const { kind } = frame.frame as { kind: string };
        return slowly(`journal ${kind} ${durability}`, () =>
          inner.journal.append(uid, frame, durability),
        );
      },
      read: (...args) => inner.journal.read(...args),
      prune: (...args) => inner.journal.prune(...args),
    },
  };
}

/** The port's methods alone, as functions that need no `this`. */
const bound = (inner: EmbeddedBoard): TaskBoard => ({
  append: (...args) => inner.append(...args),
  read: (...args) => inner.read(...args),
  known: (...args) => inner.known(...args),
  list: (...args) => inner.list(...args),
  find: (...args) => inner.find(...args),
  resolve: (...args) => inner.resolve(...args),
  beat: (...args) => inner.beat(...args),
  watch: (...args) => inner.watch(...args),
  show: (...args) => inner.show(...args),
  depths: () => inner.depths(),
  flush: () => inner.flush(),
  close: () => inner.close(),
});
