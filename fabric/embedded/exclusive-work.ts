import { BoardUnavailableError, reasonOf } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import { lockFile, type OsLock } from './os-lock.ts';
import { loadSqlite } from './sqlite-module.ts';

/** Between two looks at a lock that somebody has, and how long to look at all, ms. */
const lookAgainMs = 20;
const mostWaitMs = 10_000;

/**
 * Does `work` while nobody else does any under the same lock file, of whatever process: for a file that is
 * read, changed and written as a whole. The kernel frees the lock of a process that dies, so nothing stale
 * is left. It never blocks the process: it looks again and again.
 * @param path the lock file, in a folder that exists; nothing else may open it in this process
 * @throws BoardUnavailableError where it cannot be had within 10 s; `work` was not begun then
 */
export async function exclusively<T>(
  { path, clock }: { readonly path: string; readonly clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  const lock = await taken(path, clock);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function taken(path: string, clock: Clock): Promise<OsLock> {
  const sqlite = await loadSqlite();
  const untilMs = clock.monotonicMs() + mostWaitMs;
  for (;;) {
    const lock = tryLock(() => lockFile(sqlite, path, 0), path);
    if (lock) return lock;
    if (clock.monotonicMs() >= untilMs) {
      throw new BoardUnavailableError(
        `Another process has had the lock ${path} for over ${mostWaitMs / 1_000} s. Nothing was changed; try again.`,
      );
    }
    await clock.sleep(lookAgainMs);
  }
}

function tryLock(lock: () => OsLock | undefined, path: string): OsLock | undefined {
  try {
    return lock();
  } catch (cause) {
    throw new BoardUnavailableError(
      `The lock ${path} cannot be taken: ${reasonOf(cause)}. Check that its folder exists and may be written.`,
      { cause },
    );
  }
}
