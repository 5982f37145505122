/** Runs that callers of this process wait for; no worker knows of them, so its end asks here. */
export interface RunsUnderWay {
  /** Before a run is begun; call the result once its end is on record, or it came to none. */
  begin(): () => void;
  /** Resolves when all that were begun are over. */
  settled(): Promise<void>;
}

export function createRunsUnderWay(): RunsUnderWay {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    begin() {
      count += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        count -= 1;
        if (count > 0) return;
        for (const tell of waiting) tell();
        waiting.clear();
      };
    },
    settled: () =>
      count === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.add(resolve);
          }),
  };
}
