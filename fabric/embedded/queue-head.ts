import { z } from 'zod';
import { QueueId, TaskId } from '../domain/ids.ts';
import { phases, type Phase } from '../domain/state.ts';
import type { QueueDepth } from '../ports/task-board.ts';
import type { GroupLine } from './group-line.ts';

const UidRow = z.looseObject({ uid: TaskId });

/** Those whose instant has come join the head; derived data, so it needs no log entry. */
const admitDue =
  'UPDATE tasks SET stage = 0 WHERE stage = 1 AND queue = ? AND not_before <= ? RETURNING number';

const head =
  'SELECT uid FROM tasks INDEXED BY tasks_head WHERE stage = 0 AND queue = ? AND not_before <= ? ' +
  'ORDER BY rank, submitted_at, number LIMIT ?';

/** The first `limit` tasks of a queue in the order of taking; the same cost however many wait. */
export async function headOf(
  line: GroupLine,
  queue: QueueId,
  nowMs: number,
  limit: number,
): Promise<readonly TaskId[]> {
  const [, rows] = await Promise.all([
    line.read(admitDue, queue, nowMs),
    line.read(head, queue, nowMs, limit),
  ]);
  return rows.map((row) => UidRow.parse(row).uid);
}

const waiting: readonly Phase[] = [
  'suggested',
  'submitted',
  'ready',
  'scheduled',
  'paused',
  'waiting-event',
  'input-required',
  'needs-review',
];

const DepthRow = z
  .looseObject({ queue: QueueId, phase: z.enum(phases), count: z.int(), oldest_at: z.int() })
  .transform(({ queue, phase, count, oldest_at: oldestAtMs }): QueueDepth => ({
    queue,
    phase,
    count,
    oldestAtMs,
  }));

/** How many tasks wait, by queue and phase. */
export async function queueDepths(line: GroupLine): Promise<readonly QueueDepth[]> {
  const rows = await line.read(
    'SELECT queue, phase, count(*) AS count, min(submitted_at) AS oldest_at FROM tasks ' +
      `WHERE phase IN (${waiting.map(() => '?').join(', ')}) GROUP BY phase, queue`,
    ...waiting,
  );
  return rows.map((row) => DepthRow.parse(row));
}
