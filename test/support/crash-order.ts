import { z } from 'zod';

/**
 * Where a worker dies, in the order of a run (the twelve steps of the reliability goals):
 *
 * | step | dies |
 * | --- | --- |
 * | S1 | before `claimed` is appended |
 * | S2 | `claimed` is durable, its answer not seen |
 * | S3 | the claim is known, before `started` is appended |
 * | S4 | `started`, with the attempt, is durable, before the spawn |
 * | S5 | right after the spawn |
 * | S6 | in the middle of the output |
 * | S7 | after the closing record, before anything of it is stored |
 * | S8 | the outcome is durable, its answer not seen |
 * | S9 | those who watch are just told of the outcome |
 * | S10 | the outcome is known to its writer, before the lease is given up |
 * | S11 | the run is over and gives its place back |
 * | S12 | at the next look at the queue |
 */
export const crashSteps = [
  'S1',
  'S2',
  'S3',
  'S4',
  'S5',
  'S6',
  'S7',
  'S8',
  'S9',
  'S10',
  'S11',
  'S12',
] as const;
export type CrashStep = (typeof crashSteps)[number];

/** What a test tells `fixtures/crash-worker.ts`, as JSON in its first argument. */
export const CrashOrder = z.strictObject({
  /** Folder of its database, its lock and what it writes down. */
  home: z.string(),
  incarnation: z.string(),
  agentId: z.string(),
  leaseMs: z.int(),
  /** Absent: it lives. */
  step: z.enum(crashSteps).exactOptional(),
  /** A board of another process instead of the home's own. */
  url: z.string().exactOptional(),
  /** Whether it runs a keeper too. */
  keeps: z.boolean(),
  /** How long a run works, ms. */
  workMs: z.int(),
});
export type CrashOrder = z.infer<typeof CrashOrder>;
