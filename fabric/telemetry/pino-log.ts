import { destination, pino, type DestinationStream } from 'pino';
import type { Log } from '../ports/log.ts';

export interface PinoLogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Default: standard error. */
  readonly to?: DestinationStream;
}

/** The `Log` port as JSON lines: `{"level":"info","time":"…Z","event":"task.claimed",…}`. */
export function pinoLog({ level, to }: PinoLogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    to ?? destination({ fd: 2, sync: true }),
  );
  return {
    debug: (event, fields) => {
      logger.debug({ event, ...fields });
    },
    info: (event, fields) => {
      logger.info({ event, ...fields });
    },
    warn: (event, fields) => {
      logger.warn({ event, ...fields });
    },
    error: (event, fields) => {
      logger.error({ event, ...fields });
    },
  };
}
