import { z } from 'zod';
import { Duration } from './duration.ts';

/** A program that does the work: one JSON packet on stdin, one JSON object on stdout. */
export const Runner = z
  .strictObject({
    /** argv, no shell. `{catalog}` and `{home}` stand for the shipped and the operator's folder. */
    command: z.array(z.string().min(1).max(1_000)).min(1).max(64).readonly(),
    timeout: Duration.default(2 * 60_000),
    /** Fixed, public values; a secret's name goes to the Card's `secrets`. */
    env: z.record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/), z.string().max(1_000)).default({}),
  })
  .transform(({ timeout, ...rest }) => ({ ...rest, timeoutMs: timeout }));
