import type { SqliteDatabase, SqliteModule } from '../../fabric/embedded/sqlite-module.ts';
import { LedgerUnavailableError } from './ledger-error.ts';
import { ledgerSchema, ledgerVersion } from './ledger-schema.ts';

/** How long a second writer's lock is waited for, ms; it blocks the event loop, so it is short. */
const busyMs = 250;

/**
 * Opens the ledger's own small file (`:memory:` for tests) and makes its tables. WAL with
 * `synchronous=FULL`: what was reserved survives a power cut.
 */
export function openLedgerDatabase(sqlite: SqliteModule, path: string): SqliteDatabase {
  const db = attempt(`open ${path}`, () => new sqlite.DatabaseSync(path, { timeout: busyMs }));
  attempt(`prepare ${path}`, () => {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    inTransaction(db, () => {
      const row = db.prepare('PRAGMA user_version').get() as { user_version: number };
      if (row.user_version === 0) db.exec(ledgerSchema);
      else if (row.user_version !== ledgerVersion) throw newerVersion(path, row.user_version);
    });
  });
  return db;
}

const newerVersion = (path: string, version: number): Error =>
  new Error(`${path} has version ${version}, this program knows ${ledgerVersion}.`);

/** Runs `work` in one write transaction; a throw leaves the file as it was. */
export function inTransaction<Result>(db: SqliteDatabase, work: () => Result): Result {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // A failed COMMIT may have rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** `work`, with SQLite's refusals named for what they stopped. */
export function attempt<Result>(doing: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new LedgerUnavailableError(doing, cause);
  }
}
