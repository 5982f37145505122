import { z } from 'zod';
import { InvalidValueError } from '../domain/errors.ts';
import { TaskEvent } from '../domain/events.ts';
import { fold } from '../domain/fold.ts';
import { TaskId } from '../domain/ids.ts';
import { logsNamed } from './keys.ts';
import type { CachedLog } from './log-cache.ts';
import { slotsPerLog } from './schema.ts';

/** All events of the logs that `named` gives, log by log and in order. */
export const eventsOfLogs =
  'SELECT logs.uid, logs.number, events.slot, events.event ' +
  `FROM ${logsNamed} JOIN events ON events.slot BETWEEN logs.number * ${slotsPerLog} ` +
  `AND logs.number * ${slotsPerLog} + ${slotsPerLog - 1} ` +
  'ORDER BY events.slot';

const Row = z.looseObject({ uid: TaskId, number: z.int(), slot: z.int(), event: z.string() });
type Row = z.infer<typeof Row>;

/** A log read from the file, or why it cannot be used. */
export type StoredLog = CachedLog | InvalidValueError;

/** Parses and folds what `eventsOfLogs` gave; a broken log does not hide the others. */
export function storedLogs(rows: readonly unknown[]): Map<TaskId, StoredLog> {
  const rowsOf = new Map<TaskId, Row[]>();
  for (const unparsed of rows) {
    const row = Row.parse(unparsed);
    const known = rowsOf.get(row.uid);
    if (known) known.push(row);
    else rowsOf.set(row.uid, [row]);
  }
  return new Map([...rowsOf].map(([uid, own]) => [uid, storedLog(uid, own)]));
}

function storedLog(uid: TaskId, rows: readonly Row[]): StoredLog {
  let version = 0;
  try {
    const events = rows.map(({ number, slot, event }) => {
      version += 1;
      if (slot !== number * slotsPerLog + version) throw new Error('the slot before it is empty');
      return TaskEvent.parse(JSON.parse(event));
    });
    const state = fold(events);
    if (state === undefined) throw new Error('it has no event');
    const chars = rows.reduce((sum, { event }) => sum + event.length, 0);
    return { number: rows[0]?.number ?? 0, events, state, chars };
  } catch (cause) {
    return new InvalidValueError(
      `The log of task ${uid} cannot be used from version ${version} on. ` +
        'Restore the database from a backup, or cancel the task there.',
      `events[${version}]`,
      { cause },
    );
  }
}
