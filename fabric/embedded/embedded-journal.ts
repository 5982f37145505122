import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import type { Journal, JournalFrame } from '../ports/journal.ts';
import type { GroupLine } from './group-line.ts';

const FrameRow = z.looseObject({ sequence: z.int(), frame: z.string() });
const ChangesRow = z.looseObject({ changes: z.int() });
const UidRow = z.looseObject({ uid: z.string() });

/** Tasks whose frames one step of `prune` drops, so that it never holds up the commits for long. */
const prunedAtOnce = 200;

/** Streams of ended tasks; of tasks that a crash took before they were on the board, by their own age. */
const forgettable =
  'SELECT DISTINCT frames.uid FROM frames LEFT JOIN logs ON logs.uid = frames.uid ' +
  'LEFT JOIN tasks ON tasks.number = logs.number ' +
  'WHERE tasks.ended_at < ? OR (logs.number IS NULL AND frames.at_ms < ?) LIMIT ?';

/** The journal in the board's file: same thread, same groups, same commits. */
export function embeddedJournal(line: GroupLine, clock: Clock): Journal {
  return {
    async append(uid, { incarnation, sequence, frame }, durability) {
      const json = JSON.stringify(frame);
      const isBuffered = durability === 'buffered';
      const durable = line.write(
        [['frame', uid, incarnation, sequence, Math.round(clock.nowMs()), json]],
        json.length,
        { isBuffered },
      );
      if (!isBuffered || line.isBacklogged) await durable;
    },

    async read(uid, incarnation, afterSequence) {
      const rows = await line.read(
        'SELECT sequence, frame FROM frames WHERE uid = ? AND incarnation = ? AND sequence > ? ' +
          'ORDER BY sequence',
        uid,
        incarnation,
        afterSequence,
      );
      return rows.map((row): JournalFrame => {
        const { sequence, frame } = FrameRow.parse(row);
        return { sequence, incarnation, frame: JSON.parse(frame) };
      });
    },

    async prune(endedBeforeMs) {
      let dropped = 0;
      for (;;) {
        const rows = await line.read(forgettable, endedBeforeMs, endedBeforeMs, prunedAtOnce);
        if (rows.length === 0) return dropped;
        const uids = JSON.stringify(rows.map((row) => UidRow.parse(row).uid));
        const [, [changes]] = await Promise.all([
          line.read('DELETE FROM frames WHERE uid IN (SELECT value FROM json_each(?))', uids),
          line.read('SELECT changes() AS changes'),
        ]);
        dropped += ChangesRow.parse(changes).changes;
      }
    },
  };
}
