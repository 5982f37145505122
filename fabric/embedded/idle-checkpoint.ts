import type { Clock } from '../ports/clock.ts';
import type { GroupLine } from './group-line.ts';

/** A pause of the writes so long is taken for an idle moment. */
const pauseMs = 500;

/** Copies the WAL into the main file while nobody waits; under load SQLite does it by size. */
export function checkpointWhenIdle(line: GroupLine, clock: Clock) {
  const stopped = new AbortController();
  let isWatching = false;
  let writes = 0;
  const watch = async () => {
    for (let seen = -1; seen !== writes && !stopped.signal.aborted;) {
      seen = writes;
      await clock.sleep(pauseMs, stopped.signal);
    }
    isWatching = false;
    // A file that is busy or gone just keeps its WAL for now.
    if (!stopped.signal.aborted) await line.read('PRAGMA wal_checkpoint(PASSIVE)').catch(() => []);
  };
  return {
    afterWrite() {
      writes += 1;
      if (isWatching) return;
      isWatching = true;
      void watch();
    },
    stop() {
      stopped.abort();
    },
  };
}
