/**
 * Layout of the file; one with a greater number was written by a newer release. Layout 1 lacks
 * `tasks.version`, 2 lacks `tasks.shown`: what is derived is made anew.
 */
export const schemaVersion = 3;

/** Logs of so many events have an index of their own: few ever get there, so it costs the others nothing. */
export const longFromVersion = 256;

/** `PRAGMA application_id` of our files: "mesh" in ASCII, so that another program's file is refused. */
export const applicationId = 0x6d657368;

/** A log's slots lie together: slot = number × this + version (`limits.versions` is far below). */
export const slotsPerLog = 1024;

/**
 * What is true: the logs and the journal. Nothing here is ever updated. Task ids are random, so an index
 * over them has a page to write for each new task; their first 48 bits, as an integer, make it a third
 * as large. That no id has two logs is the main thread's care, which alone gives numbers out.
 */
export const logTables = `
CREATE TABLE IF NOT EXISTS logs (
  number INTEGER PRIMARY KEY,
  uid_key INTEGER NOT NULL,
  uid TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS logs_uid ON logs (uid_key);
CREATE TABLE IF NOT EXISTS events (
  slot INTEGER PRIMARY KEY,
  event TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS frames (
  uid TEXT NOT NULL,
  incarnation TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  frame TEXT NOT NULL,
  PRIMARY KEY (uid, incarnation, sequence)
) STRICT, WITHOUT ROWID;
`;

/**
 * What is derived: one row a task, made from the fold of its log, and whom it concerns. `stage` is 0
 * for a task that can be claimed now, 1 for one whose `not_before` lies ahead, else null; the partial
 * index over 0 is the head of each queue, so a claim costs the same however many tasks wait.
 */
export const indexTables = `
CREATE TABLE IF NOT EXISTS tasks (
  number INTEGER PRIMARY KEY,
  uid TEXT NOT NULL,
  context_key INTEGER NOT NULL,
  context TEXT NOT NULL,
  queue TEXT NOT NULL,
  agent TEXT,
  parent TEXT,
  submitter TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  deadline INTEGER,
  phase TEXT NOT NULL,
  shown TEXT NOT NULL,
  phase_at INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  stage INTEGER,
  not_before INTEGER NOT NULL,
  ended_at INTEGER,
  version INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS tasks_head ON tasks (queue, rank, submitted_at, number) WHERE stage = 0;
CREATE INDEX IF NOT EXISTS tasks_held ON tasks (queue, not_before) WHERE stage = 1;
CREATE INDEX IF NOT EXISTS tasks_recent ON tasks (phase_at);
CREATE INDEX IF NOT EXISTS tasks_phase ON tasks (phase, queue, submitted_at);
CREATE INDEX IF NOT EXISTS tasks_context ON tasks (context_key);
CREATE INDEX IF NOT EXISTS tasks_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX IF NOT EXISTS tasks_submitter ON tasks (submitter, submitted_at);
CREATE INDEX IF NOT EXISTS tasks_deadline ON tasks (deadline) WHERE deadline IS NOT NULL;
CREATE INDEX IF NOT EXISTS tasks_long ON tasks (version) WHERE version >= ${longFromVersion};
CREATE TABLE IF NOT EXISTS concerned (
  principal TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (principal, number)
) STRICT, WITHOUT ROWID;
`;

const taskRow =
  'INTO tasks (number, uid, context_key, context, queue, agent, parent, submitter, submitted_at, ' +
  'deadline, phase, shown, phase_at, rank, stage, not_before, ended_at, version) ' +
  'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

/** Takes what is derived out of a file of an older layout. */
export const dropIndexTables = 'DROP TABLE IF EXISTS tasks; DROP TABLE IF EXISTS concerned;';

/** Every statement that writes, by the name the two threads know it under. */
export const writeStatements = {
  log: 'INSERT INTO logs (number, uid_key, uid) VALUES (?, ?, ?)',
  event: 'INSERT INTO events (slot, event) VALUES (?, ?)',
  frame:
    'INSERT OR IGNORE INTO frames (uid, incarnation, sequence, at_ms, frame) VALUES (?, ?, ?, ?, ?)',
  /** Cheaper by a quarter than `task`, for a row that cannot be there yet. */
  newTask: `INSERT ${taskRow}`,
  task: `INSERT OR REPLACE ${taskRow}`,
  moved:
    'UPDATE tasks SET phase = ?, shown = ?, phase_at = ?, rank = ?, stage = ?, not_before = ?, ' +
    'ended_at = ?, version = ? WHERE number = ?',
  concerns: 'INSERT OR IGNORE INTO concerned (principal, number) VALUES (?, ?)',
  concernsNoMore: 'DELETE FROM concerned WHERE principal = ? AND number = ?',
  forgetConcerned: 'DELETE FROM concerned WHERE number = ?',
} as const;
export type WriteName = keyof typeof writeStatements;
