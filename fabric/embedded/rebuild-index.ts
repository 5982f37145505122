import { z } from 'zod';
import { TaskId } from '../domain/ids.ts';
import type { Log } from '../ports/log.ts';
import type { GroupLine } from './group-line.ts';
import { rebuildWrites } from './index-row.ts';
import type { TaskLogs } from './task-logs.ts';

const logsAtOnce = 500;
const LogRow = z.looseObject({ number: z.int(), uid: TaskId });

/**
 * Makes every derived row anew from the logs, while the board goes on: each row is written in the
 * same step in which its newest state is read. Returns how many there are. A log that cannot be used is logged,
 * left out, and stays in the file.
 */
export async function rebuildIndex(line: GroupLine, logs: TaskLogs, log: Log): Promise<number> {
  let rebuilt = 0;
  let after = 0;
  for (;;) {
    const rows = await line.read(
      'SELECT number, uid FROM logs WHERE number > ? ORDER BY number LIMIT ?',
      after,
      logsAtOnce,
    );
    const chunk = rows.map((row) => LogRow.parse(row));
    after = chunk.at(-1)?.number ?? 0;
    if (chunk.length === 0) return rebuilt;
    const states = await logs.readMany(chunk.map(({ uid }) => uid));
    const writes = chunk.flatMap(({ uid }) => {
      const stored = logs.peek(uid) ?? states.get(uid);
      if (stored && !(stored instanceof Error)) {
        rebuilt += 1;
        return rebuildWrites(stored.number, stored.state);
      }
      log.error('board.log-broken', { taskId: uid, reason: stored?.message ?? 'it has no event' });
      return [];
    });
    await line.write(writes, 0);
  }
}
