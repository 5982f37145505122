import { InvalidValueError, reasonOf } from '../../../fabric/domain/errors.ts';
import { loadSqlite } from '../../../fabric/embedded/sqlite-module.ts';

/** Kanboard's writers and ours hold the file for moments only. */
const waitMs = 10_000;

/**
 * A copy as of one moment, in one file, while others read and write: one read transaction, which holds up
 * nobody in WAL mode. Not opened read-only: what a killed process left in the WAL has to be taken in first.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(from, { timeout: waitMs });
  try {
    db.prepare('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
}

/** Kanboard's token and that of its webhook; the next start puts the home's own in again. */
export async function withoutTokens(kanboardDatabase: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(kanboardDatabase);
  try {
    db.exec(
      'PRAGMA secure_delete = ON; ' +
        "UPDATE settings SET value = '' WHERE option IN ('api_token', 'webhook_token')",
    );
  } finally {
    db.close();
  }
}

/** @throws InvalidValueError for a database that is damaged or none */
export async function requireWhole(path: string, name: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const says = (() => {
    try {
      const db = new DatabaseSync(path, { readOnly: true });
      try {
        const row = db.prepare('PRAGMA quick_check(1)').get();
        return typeof row === 'object' && row !== null ? String(Object.values(row)[0]) : 'nothing';
      } finally {
        db.close();
      }
    } catch (error) {
      return reasonOf(error);
    }
  })();
  if (says === 'ok') return;
  throw new InvalidValueError(
    `${name} in the backup is damaged: ${says}. Take another one.`,
    'file',
  );
}
