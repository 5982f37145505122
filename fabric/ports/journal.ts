import type { TaskId } from '../domain/ids.ts';

/** One frame of a task's stream at its edge: what subscribers were told, in order. */
export interface JournalFrame {
  /** From 1, per task and incarnation, without gaps. */
  readonly sequence: number;
  readonly incarnation: string;
  /**
   * The edge's own words as JSON (`StreamFrame`), never a StreamResponse: what a subscriber sees depends on who
   * they are. A state or an artifact is named by the version of the log that has it and drawn anew for each
   * viewer; only what no log has, pieces of the answer and progress, is in the frame itself.
   */
  readonly frame: unknown;
}

/**
 * Append-only record of streams, local to the edge's process. Text chunks and progress never wait for
 * it; a first, interrupted or terminal frame waits for its commit (`DESIGN.md` 6.1). A crash may lose
 * frames that were not committed, never an acknowledged task or result: those are on the board.
 */
export interface Journal {
  /** Resolves at the commit when `committed`, else as soon as it is in order. */
  append(uid: TaskId, frame: JournalFrame, durability: 'committed' | 'buffered'): Promise<void>;
  /** Committed and buffered frames of one incarnation after `sequence`. */
  read(uid: TaskId, incarnation: string, afterSequence: number): Promise<readonly JournalFrame[]>;
  /** Drops the frames of tasks that ended before `endedBeforeMs`. Returns how many frames went. */
  prune(endedBeforeMs: number): Promise<number>;
}
