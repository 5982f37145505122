import { closeSync, openSync } from 'node:fs';
import { busy, failureOf } from './sqlite-failure.ts';
import type { SqliteModule } from './sqlite-module.ts';

/** A lock that the kernel frees when its process dies, however it dies. */
export interface OsLock {
  release(): void;
}

/**
 * Locks the file at `path` by an open `BEGIN EXCLUSIVE` on it: a small SQLite file of its own, without a WAL
 * and with nothing in it. Undefined when another process (or another lock of this one) has
 * it for longer than `waitMs`. Nobody may open such a file by other means in this process: closing any
 * descriptor of it would drop the lock (POSIX).
 * @throws for a path that cannot be opened or written
 */
export function lockFile(
  { DatabaseSync }: SqliteModule,
  path: string,
  waitMs: number,
): OsLock | undefined {
  makePrivate(path);
  const db = new DatabaseSync(path, { timeout: waitMs });
  try {
    // No prepared statement anywhere: one that is left over would keep a closed file open. The journal,
    // which is never written, stays in memory: a death leaves no second file behind.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (failureOf(error).code === busy) return undefined;
    throw error;
  }
  return {
    release() {
      db.close();
    },
  };
}

/** A file that is there is not opened: that would drop the locks that this process has on it. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
