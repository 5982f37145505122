import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { Appended, TaskBoard } from '../../fabric/ports/task-board.ts';
import { memoryStore, type MemoryStore } from './memory-store.ts';

/** What becomes of one call; times in ms from the call on. */
export type Fate =
  | { readonly kind: 'answered'; readonly doneMs: number; readonly answerMs: number }
  /** Executed a second time, after its answer. */
  | {
      readonly kind: 'doubled';
      readonly doneMs: number;
      readonly answerMs: number;
      readonly againMs: number;
    }
  /** Never executed; the caller learns that the board is not there. */
  | { readonly kind: 'refused'; readonly answerMs: number }
  /** Executed at `doneMs`, before or after the caller gave up at `answerMs`, who learns nothing of it. */
  | { readonly kind: 'unanswered'; readonly doneMs: number; readonly answerMs: number };

export type BoardMethod = 'append' | 'read' | 'list' | 'find' | 'beat' | 'watch' | 'other';

/** The way between a caller and the store. */
export interface Faults {
  fateOf(method: BoardMethod): Fate;
  /** Runs `execute` in the store's own time, whatever becomes of the caller. */
  inStore(ms: number, execute: () => void): void;
  /** Runs `resume` in the caller, if it lives then; a caller that is stopped gets it later. */
  inCaller(ms: number, resume: () => void): void;
}

export interface MemoryBoardOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Without it every call is executed and answered at once. */
  readonly faults?: Faults;
  /** Shared by the boards of several processes; default: one of its own. */
  readonly store?: MemoryStore;
  /** Whose buffer it is that a death loses. */
  readonly writer?: string;
}

/** TaskBoard in memory over a transport that can be as bad as a seed wants it. */
export function memoryBoard(options: MemoryBoardOptions): TaskBoard {
  const { store = memoryStore(), writer = 'local' } = options;
  const call = callerOf(options);
  const watch = watchThrough(options.faults, store);
  let isClosed = false;
  const guarded = <T>(method: BoardMethod, execute: () => T): Promise<T> =>
    isClosed
      ? Promise.reject(new BoardUnavailableError('The board was closed. Open it again.'))
      : call(method, execute);
  return {
    async append(uid, version, event, durability = 'committed') {
      const execute = (): Appended => store.append(uid, version, event, durability, writer);
      try {
        return await guarded('append', execute);
      } catch (error) {
        if (error instanceof UnansweredError && error.isUnknown) return 'unknown';
        throw error;
      }
    },
    read: (uid) => guarded('read', () => store.read(uid)),
    known: (uid) => guarded('read', () => store.read(uid)),
    list: (queue, nowMs, limit) => guarded('list', () => store.list(queue, nowMs, limit)),
    find: (query) => guarded('find', () => store.find(query)),
    resolve: (taskRef) => guarded('other', () => store.resolve(taskRef)),
    beat: (uid, version) => guarded('beat', () => store.beat(uid, version, options.clock.nowMs())),
    watch,
    show: () => guarded('other', () => undefined),
    depths: () => guarded('other', () => store.depths()),
    flush: () => guarded('other', () => store.commit(writer)),
    async close() {
      store.commit(writer);
      isClosed = true;
    },
  };
}

/** The caller does not know whether it was done; half of the adapters say so, half say "not there". */
class UnansweredError extends BoardUnavailableError {
  readonly isUnknown: boolean;

  constructor(isUnknown: boolean) {
    super('The board did not answer in time.');
    this.isUnknown = isUnknown;
  }
}

/** One look at the store for all watchers of a board; hints come late or never, as the fates have it. */
function watchThrough(faults: Faults | undefined, store: MemoryStore): TaskBoard['watch'] {
  if (faults === undefined) return (onChange) => store.watch(onChange);
  const watchers = new Set<Parameters<TaskBoard['watch']>[0]>();
  store.watch((uid, state) => {
    if (watchers.size === 0) return;
    const fate = faults.fateOf('watch');
    if (fate.kind === 'refused') return;
    faults.inCaller(fate.answerMs, () => {
      for (const watcher of [...watchers]) watcher(uid, state);
    });
  });
  return (onChange) => {
    const own: typeof onChange = (uid, state) => {
      onChange(uid, state);
    };
    watchers.add(own);
    return () => watchers.delete(own);
  };
}

type Call = <T>(method: BoardMethod, execute: () => T) => Promise<T>;

function callerOf({ faults, random }: MemoryBoardOptions): Call {
  if (faults === undefined) {
    return async (_method, execute) => {
      await Promise.resolve();
      return execute();
    };
  }
  return (method, execute) =>
    new Promise((resolve, reject) => {
      const fate = faults.fateOf(method);
      const unavailable = () => {
        reject(new BoardUnavailableError('The board can’t be reached.'));
      };
      if (fate.kind === 'refused') {
        faults.inCaller(fate.answerMs, unavailable);
        return;
      }
      if (fate.kind === 'unanswered') {
        faults.inStore(fate.doneMs, () => void attempt(execute));
        const isUnknown = random.fraction() < 0.5;
        faults.inCaller(fate.answerMs, () => {
          reject(new UnansweredError(isUnknown));
        });
        return;
      }
      faults.inStore(fate.doneMs, () => {
        const result = attempt(execute);
        faults.inCaller(fate.answerMs - fate.doneMs, () => {
          if (result.ok) resolve(result.value);
          else reject(result.error);
        });
      });
      if (fate.kind === 'doubled') faults.inStore(fate.againMs, () => void attempt(execute));
    });
}

type Result<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error };

function attempt<T>(execute: () => T): Result<T> {
  try {
    return { ok: true, value: execute() };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
  }
}
