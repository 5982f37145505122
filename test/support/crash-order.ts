import { z } from 'zod';
import { BoardPlace } from './stress/board-place.ts';

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

/**
 * Where a keeper dies that gives up the claim of a dead holder (the six steps of the reliability goals):
 *
 * | step | dies |
 * | --- | --- |
 * | K1 | before it looks for claims |
 * | K2 | the claims are found, none was read |
 * | K3 | the claim was read, and is to be given up |
 * | K4 | it was read once more, right before `expired` is appended |
 * | K5 | `expired` is durable, its answer not seen |
 * | K6 | it is known, before the pass is over |
 */
export const keeperSteps = ['K1', 'K2', 'K3', 'K4', 'K5', 'K6'] as const;
export type KeeperStep = (typeof keeperSteps)[number];

/** What a test tells `fixtures/crash-worker.ts`, as JSON in its first argument. */
export const CrashOrder = z.strictObject({
  /** Folder of its database, its lock and what it writes down. */
  home: z.string(),
  incarnation: z.string(),
  agentId: z.string(),
  leaseMs: z.int(),
  /** Absent: it lives. */
  step: z.enum([...crashSteps, ...keeperSteps]).exactOptional(),
  /** A board of another process instead of the home's own. */
  url: z.string().exactOptional(),
  /** Kanboard instead of the home's own database; its mirror lies in the home. */
  kanboard: BoardPlace.exactOptional(),
  /** Whether it runs a keeper too. */
  keeps: z.boolean(),
  /** How long a run works, ms. */
  workMs: z.int(),
});
export type CrashOrder = z.infer<typeof CrashOrder>;
