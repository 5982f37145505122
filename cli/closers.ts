/** What was opened, to be closed again in reverse order. */
export interface Closers {
  add(close: () => void | Promise<void>): void;
  /**
   * Closes each one that was added, the last one first, whatever the others do; a second call has nothing to do.
   * Rejects with the first failure, after all.
   */
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const open: (() => void | Promise<void>)[] = [];
  return {
    add(close) {
      open.push(close);
    },
    async closeAll() {
      const failures: unknown[] = [];
      for (let close = open.pop(); close !== undefined; close = open.pop()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Opens something in steps; where one fails, what the others have opened is closed before this rejects. */
export async function closingOnFailure<T>(open: (closers: Closers) => Promise<T>): Promise<T> {
  const closers = createClosers();
  try {
    return await open(closers);
  } catch (error) {
    // Why it could not be opened is the news, not what closing says about that.
    await closers.closeAll().catch(() => undefined);
    throw error;
  }
}

/** Does some work and closes what it has opened, whether it failed or not. */
export async function closingAfter<T>(work: (closers: Closers) => Promise<T>): Promise<T> {
  return closingOnFailure(async (closers) => {
    const result = await work(closers);
    await closers.closeAll();
    return result;
  });
}
