/** Why SQLite refused, as it crosses the threads. */
export interface SqliteFailure {
  readonly message: string;
  /** SQLite's primary result code; 0 where the error was none of SQLite's. */
  readonly code: number;
}

export const busy = 5;

/** What to do about each primary result code (https://sqlite.org/rescode.html). */
const advice: Readonly<Record<number, string>> = {
  [busy]:
    'another process has it open. Stop that one (mesh up, mesh serve), or reach it with --board mesh:<url>',
  /* LOCKED */ 6: 'it is locked. Stop whatever else uses the file and try again',
  /* READONLY */ 8: 'it cannot be written. Check the owner and mode of the file and its folder',
  /* IOERR */ 10: 'the disk reported an error. Check the disk and its file system',
  /* CORRUPT */ 11: 'the file is damaged. Restore it from a backup',
  /* FULL */ 13: 'the disk is full. Free some space; work goes on by itself then',
  /* CANTOPEN */ 14: 'the file cannot be opened. Check that its folder exists and may be written',
  /* CONSTRAINT */ 19: 'a slot was written by somebody else. Let only one process use this file',
  /* NOTADB */ 26: 'the file is not a mesh database. Name another one',
};

/** The cause of a thrown value, with SQLite's own code where there is one. */
export function failureOf(error: unknown): SqliteFailure {
  const message = error instanceof Error ? error.message : String(error);
  const extended = error instanceof Error && 'errcode' in error ? error.errcode : 0;
  return { message, code: typeof extended === 'number' ? extended & 0xff : 0 };
}

/** One sentence for people: what failed and what to do. */
export function adviceOn({ code, message }: SqliteFailure): string {
  const known = advice[code];
  return known === undefined ? `SQLite says: ${message}` : `${known} (SQLite: ${message})`;
}
