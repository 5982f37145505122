import type { TaskBoard } from '../../fabric/ports/task-board.ts';

export interface HeldFlush {
  readonly board: TaskBoard;
  /** How many wait for the disk. */
  readonly waiting: () => number;
  /** From here on nobody is told that anything is durable, until `release`. */
  hold(): void;
  release(): void;
}

/** A board whose disk takes as long as a test says, before it says that what was read is durable. */
export function heldFlush(inner: TaskBoard): HeldFlush {
  let waiting: (() => void)[] = [];
  let isHeld = false;
  const flush = async () => {
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    await inner.flush();
  };
  return {
    board: new Proxy(inner, {
      get: (board, name: keyof TaskBoard) => (name === 'flush' ? flush : board[name]),
    }),
    waiting: () => waiting.length,
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}
