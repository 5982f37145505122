import { z } from 'zod';
import { BoardPlace } from './board-place.ts';

/** Agents whose queues the workers of a stress drain: one may repeat its work, the other acts outside. */
export const stressAgents = ['builder', 'sender'] as const;

/** What a nemesis tells `fixtures/stress-process.ts`, as JSON in its first argument. */
export const StressOrder = z.strictObject({
  /** Through the faulty proxy. */
  kanboard: BoardPlace,
  /** Folder of the world outside, of what processes write down, and of their mirrors. */
  home: z.string(),
  /** Its place in the mesh, which it keeps over its deaths, and with it what its mirror knows. */
  slot: z.string(),
  /** Whose processes can prove each other dead. */
  host: z.string(),
  incarnation: z.string(),
  does: z.enum(['work', 'keep']),
  leaseMs: z.int(),
  seed: z.int(),
  /** How long a call of the board may take. */
  timeoutMs: z.int(),
});
export type StressOrder = z.infer<typeof StressOrder>;
