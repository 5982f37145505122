import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import type { Journal, JournalFrame } from '../ports/journal.ts';
import type { GroupLine } from './group-line.ts';
import { logsNamed, named } from './keys.ts';

const FrameRow = z.looseObject({ sequence: z.int(), frame: z.string() });
const ChangesRow = z.looseObject({ changes: z.int() });
const StreamRow = z.looseObject({ uid: z.string(), at_ms: z.int() });
const EndRow = z.looseObject({ uid: z.string(), ended_at: z.int().nullable() });

/** Tasks whose frames one step of `prune` looks at, so that it never holds up the commits for long. */
const prunedAtOnce = 200;

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
      let after = '';
      for (;;) {
        const streams = await streamsAfter(line, after);
        after = streams.at(-1)?.uid ?? '';
        if (streams.length === 0) return dropped;
        dropped += await dropFrames(line, await forgettable(line, streams, endedBeforeMs));
      }
    },
  };
}

type Stream = z.infer<typeof StreamRow>;

async function streamsAfter(line: GroupLine, uid: string): Promise<Stream[]> {
  const rows = await line.read(
    'SELECT uid, max(at_ms) AS at_ms FROM frames WHERE uid > ? GROUP BY uid ORDER BY uid LIMIT ?',
    uid,
    prunedAtOnce,
  );
  return rows.map((row) => StreamRow.parse(row));
}

/** Streams of ended tasks; of tasks that a crash took before they were on the board, by their own age. */
async function forgettable(
  line: GroupLine,
  streams: readonly Stream[],
  endedBeforeMs: number,
): Promise<string[]> {
  const rows = await line.read(
    `SELECT logs.uid, tasks.ended_at FROM ${logsNamed} JOIN tasks ON tasks.number = logs.number`,
    named(streams.map(({ uid }) => uid)),
  );
  const ends = new Map(
    rows.map((row) => {
      const { uid, ended_at: endedAtMs } = EndRow.parse(row);
      return [uid, endedAtMs ?? Infinity] as const;
    }),
  );
  return streams
    .filter(({ uid, at_ms: lastAtMs }) => (ends.get(uid) ?? lastAtMs) < endedBeforeMs)
    .map(({ uid }) => uid);
}

async function dropFrames(line: GroupLine, uids: readonly string[]): Promise<number> {
  if (uids.length === 0) return 0;
  const [, [changes]] = await Promise.all([
    line.read(
      'DELETE FROM frames WHERE uid IN (SELECT value FROM json_each(?))',
      JSON.stringify(uids),
    ),
    line.read('SELECT changes() AS changes'),
  ]);
  return ChangesRow.parse(changes).changes;
}
