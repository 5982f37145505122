import type { Clock } from '../ports/clock.ts';
import type { Log, LogFields } from '../ports/log.ts';

/** Lines that a store that is away makes: one for every worker, sweep and look. */
const outageEvents: ReadonlySet<string> = new Set([
  'board.down',
  'keeper.board-down',
  'worker.board-down',
]);
const quietMs = 60_000;

/**
 * A log in which an outage is one line a minute, with how many more there would have been: a board that is
 * away for an hour is one fault, not ten thousand.
 */
export function outageLog(inner: Log, clock: Pick<Clock, 'monotonicMs'>): Log {
  let lastAtMs = -Infinity;
  let held = 0;
  const unlessQuiet =
    (write: (event: string, fields?: LogFields) => void) =>
    (event: string, fields: LogFields = {}): void => {
      if (!outageEvents.has(event)) {
        write(event, fields);
        return;
      }
      const nowMs = clock.monotonicMs();
      if (nowMs - lastAtMs < quietMs) {
        held += 1;
        return;
      }
      lastAtMs = nowMs;
      write(event, held > 0 ? { ...fields, moreLike: held } : fields);
      held = 0;
    };
  return {
    debug: (event, fields) => {
      inner.debug(event, fields);
    },
    info: (event, fields) => {
      inner.info(event, fields);
    },
    warn: unlessQuiet((event, fields) => {
      inner.warn(event, fields);
    }),
    error: (event, fields) => {
      inner.error(event, fields);
    },
  };
}
