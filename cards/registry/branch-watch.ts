import { watch } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';

export interface BranchWatchOptions {
  /** The repository's git folder. */
  readonly gitDir: string;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Looks whether the branch moved. Called one at a time. */
  readonly look: () => Promise<void>;
}

export interface BranchWatch {
  close(): Promise<void>;
}

/**
 * Looks at a branch every `pollMs`, and at once when git touched its files. The poll is the truth;
 * the file events only save the wait, for they are missing on some disks and for packed refs.
 */
export function watchBranch({ gitDir, pollMs, clock, log, look }: BranchWatchOptions): BranchWatch {
  let isClosed = false;
  let pause = new AbortController();
  const nudge = () => {
    pause.abort();
  };
  const watchers = [gitDir, join(gitDir, 'refs', 'heads')].map((dir) => tryWatch(dir, nudge, log));
  const isOpen = () => !isClosed;
  const loop = async () => {
    while (isOpen()) {
      await clock.sleep(pollMs, pause.signal);
      pause = new AbortController();
      if (isOpen()) await lookSafely(look, log);
    }
  };
  const ended = loop();
  return {
    async close() {
      isClosed = true;
      nudge();
      for (const watcher of watchers) watcher?.close();
      await ended;
    },
  };
}

function tryWatch(dir: string, nudge: () => void, log: Log) {
  try {
    const watcher = watch(dir, { persistent: false }, nudge);
    watcher.on('error', (error) => {
      log.debug('cards.watch-failed', { reason: reasonOf(error) });
    });
    return watcher;
  } catch (error) {
    log.debug('cards.watch-failed', { reason: reasonOf(error) });
    return undefined;
  }
}

async function lookSafely(look: () => Promise<void>, log: Log): Promise<void> {
  try {
    await look();
  } catch (error) {
    log.warn('cards.look-failed', { reason: reasonOf(error) });
  }
}
