import { z } from 'zod';
import { InvalidValueError } from '../domain/errors.ts';
import { TaskId } from '../domain/ids.ts';
import type { TaskQuery } from '../ports/task-board.ts';
import type { GroupLine } from './group-line.ts';
import { anyReviewer } from './index-row.ts';
import { keyOfText } from './keys.ts';
import { longFromVersion } from './schema.ts';
import type { SqliteValue } from './sqlite-module.ts';

/** From so many matches on, walking by age finds a page sooner than sorting all matches does. */
const manyMatches = 1_000;
const mostPerPage = 500;

interface Terms {
  readonly sql: string[];
  readonly values: SqliteValue[];
}

/** Ids of one page, newest phase change first, task id as tie-break. */
export interface FoundIds {
  readonly uids: readonly TaskId[];
  readonly cursor?: string;
  readonly total: number;
}

const CountRow = z.looseObject({ total: z.int() });
const HitRow = z.looseObject({ uid: TaskId, phase_at: z.int() });

/** @throws InvalidValueError for a limit outside 1..500 or a cursor that is none of ours */
export async function searchTasks(line: GroupLine, query: TaskQuery): Promise<FoundIds> {
  const { limit } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > mostPerPage) {
    throw new InvalidValueError(
      `A page of ${limit} tasks was asked for; ask for 1 to ${mostPerPage}.`,
      'limit',
    );
  }
  const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  const total = await countTasks(line, query);
  if (total === 0) return { uids: [], total };
  const terms = termsOf(query, total > manyMatches);
  if (after) {
    terms.sql.push('phase_at <= ? AND (phase_at < ? OR uid > ?)');
    terms.values.push(after.phaseAtMs, after.phaseAtMs, after.uid);
  }
  const from = isAboutLongLogs(query) || total <= manyMatches ? fromOf(query) : recent;
  const rows = await line.read(
    `SELECT uid, phase_at FROM ${from}${where(terms)} ORDER BY phase_at DESC, uid LIMIT ?`,
    ...terms.values,
    limit + 1,
  );
  const hits = rows.map((row) => HitRow.parse(row));
  const last = hits.length > limit ? hits[limit - 1] : undefined;
  return {
    uids: hits.slice(0, limit).map(({ uid }) => uid),
    ...(last ? { cursor: cursorAfter(last.phase_at, last.uid) } : {}),
    total,
  };
}

async function countTasks(line: GroupLine, query: TaskQuery): Promise<number> {
  const terms = termsOf(query, false);
  const [row] = await line.read(
    `SELECT count(*) AS total FROM ${fromOf(query)}${where(terms)}`,
    ...terms.values,
  );
  return CountRow.parse(row).total;
}

const recent = 'tasks INDEXED BY tasks_recent';

const isAboutLongLogs = ({ minVersion = 0 }: TaskQuery): boolean => minVersion >= longFromVersion;

/** Left to itself SQLite would go through all tasks of a phase for the few with long logs. */
const fromOf = (query: TaskQuery): string =>
  isAboutLongLogs(query) ? 'tasks INDEXED BY tasks_long' : 'tasks';

const where = ({ sql }: Terms): string => (sql.length === 0 ? '' : ` WHERE ${sql.join(' AND ')}`);

/** @param probing whom a task concerns is looked up task by task, not listed first */
function termsOf(query: TaskQuery, probing: boolean): Terms {
  const terms: Terms = { sql: [], values: [] };
  const need = (sql: string, value: SqliteValue | undefined) => {
    if (value === undefined) return;
    terms.sql.push(sql);
    terms.values.push(value);
  };
  if (query.principal !== undefined) {
    terms.sql.push(
      probing
        ? 'EXISTS (SELECT 1 FROM concerned WHERE principal IN (?, ?) AND concerned.number = tasks.number)'
        : 'number IN (SELECT number FROM concerned WHERE principal IN (?, ?))',
    );
    terms.values.push(query.principal, query.reviewer ? anyReviewer : query.principal);
  }
  if (query.contextId !== undefined) {
    need('context_key = ?', keyOfText(query.contextId));
    need('context = ?', query.contextId);
  }
  need('shown = ?', query.shownAs);
  need('agent = ?', query.agentId);
  need('queue = ?', query.queue);
  need('parent = ?', query.parent);
  need('deadline <= ?', query.dueBeforeMs);
  need('phase_at >= ?', query.changedSinceMs);
  if (query.endedBeforeMs !== undefined) {
    // Where it is set it is the instant of the last phase change, which has an index.
    terms.sql.push('ended_at IS NOT NULL');
    need('phase_at < ?', query.endedBeforeMs);
  }
  // Word for word as in the index, or SQLite would not use it.
  if (isAboutLongLogs(query)) terms.sql.push(`version >= ${longFromVersion}`);
  need('version >= ?', query.minVersion);
  need('submitter = ?', query.submittedBy?.id);
  need('submitted_at >= ?', query.submittedBy?.sinceMs);
  // A claim lasts as long as these phases.
  if (query.leasesOnly) terms.sql.push(`phase IN ('claimed', 'working')`);
  if (query.openOnly) terms.sql.push('ended_at IS NULL');
  if (query.phases) {
    terms.sql.push(`phase IN (${query.phases.map(() => '?').join(', ')})`);
    terms.values.push(...query.phases);
  }
  return terms;
}

const Cursor = z.tuple([z.int().min(0), TaskId]);

function cursorAfter(phaseAtMs: number, uid: TaskId): string {
  return Buffer.from(JSON.stringify([phaseAtMs, uid])).toString('base64url');
}

function parseCursor(cursor: string): { phaseAtMs: number; uid: TaskId } {
  try {
    const text = Buffer.from(cursor, 'base64url').toString();
    const [phaseAtMs, uid] = Cursor.parse(JSON.parse(text));
    return { phaseAtMs, uid };
  } catch (cause) {
    throw new InvalidValueError(
      'The cursor is none that a page of tasks ended with. Start again without one.',
      'cursor',
      { cause },
    );
  }
}
