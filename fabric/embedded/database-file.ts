import { lockFile, type OsLock } from './os-lock.ts';
import { KnownTasks, mark } from './known-tasks.ts';
import { applicationId, dropIndexTables, indexTables, logTables, schemaVersion } from './schema.ts';
import { busy } from './sqlite-failure.ts';
import type { SqliteDatabase, SqliteModule } from './sqlite-module.ts';

/** How long an opening waits for a process that is just letting go of the file. */
const handOverMs = 1_000;
/** Pages a WAL may grow to under load that never rests; idle moments check-point far earlier. */
const busyCheckpointPages = 16_000;
/** The filter of known tasks is never smaller than for this many. */
const leastKnown = 65_536;

/**
 * Takes the file for this process. A lock beside it, since SQLite's own exclusive mode outlives a
 * closed connection until its last statement is collected, and would then refuse a new opening.
 * @throws where another process has it
 */
export function lockDatabase(sqlite: SqliteModule, path: string): OsLock {
  const lock = lockFile(sqlite, `${path}-lock`, handOverMs);
  if (lock) return lock;
  throw Object.assign(new Error('its lock is held'), { errcode: busy });
}

/** @throws for a file that is damaged, of another program, or of a newer release */
export function openDatabase({ DatabaseSync }: SqliteModule, path: string): SqliteDatabase {
  const db = new DatabaseSync(path, { timeout: handOverMs });
  try {
    db.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ' +
        `PRAGMA wal_autocheckpoint = ${busyCheckpointPages}; PRAGMA cache_size = -32000; ` +
        'PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;',
    );
    prepareSchema(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepareSchema(db: SqliteDatabase): void {
  const app = pragma(db, 'application_id');
  const version = pragma(db, 'user_version');
  if (version > schemaVersion && app === applicationId) {
    throw new Error(
      `The file has layout ${version}; this release knows layouts up to ${schemaVersion}. ` +
        'Start the newer release that wrote it.',
    );
  }
  if (app !== applicationId && (app !== 0 || hasTables(db))) {
    throw new Error(
      'The file belongs to another program. Name another path for the mesh database.',
    );
  }
  // Not written anew when it is there: a file on a full disk can still be opened and read.
  if (version === schemaVersion) return;
  db.exec(
    `BEGIN IMMEDIATE; ${dropIndexTables} ${logTables} ${indexTables} PRAGMA application_id = ${applicationId}; ` +
      `PRAGMA user_version = ${schemaVersion}; COMMIT;`,
  );
}

/** A column of a row of ours; the tables are STRICT, so a wrong type means a damaged file. */
function integer(row: unknown, column: string): number {
  const value: unknown = typeof row === 'object' && row !== null && Reflect.get(row, column);
  if (typeof value === 'number') return value;
  throw new Error(`The file has no integer where ${column} should be. Restore it from a backup.`);
}

const pragma = (db: SqliteDatabase, name: 'application_id' | 'user_version'): number =>
  integer(db.prepare(`PRAGMA ${name}`).get(), name);

const countOf = (db: SqliteDatabase, from: string): number =>
  integer(db.prepare(`SELECT count(*) AS count FROM ${from}`).get(), 'count');

const hasTables = (db: SqliteDatabase): boolean => countOf(db, 'sqlite_schema') > 0;

/** What the main thread must know of a file before it can serve it. */
export function surveyOf(db: SqliteDatabase) {
  const logs = countOf(db, 'logs');
  const known = KnownTasks.sizedFor(Math.max(leastKnown, 2 * logs));
  for (const row of db.prepare('SELECT uid FROM logs').iterate()) {
    const uid: unknown = typeof row === 'object' && row !== null && Reflect.get(row, 'uid');
    mark(known, String(uid));
  }
  const newest = db.prepare('SELECT coalesce(max(number), 0) AS number FROM logs').get();
  return {
    logs,
    known,
    lastNumber: integer(newest, 'number'),
    indexIsStale: countOf(db, 'tasks') !== logs,
  };
}
