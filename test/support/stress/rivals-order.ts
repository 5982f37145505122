import { z } from 'zod';
import { BoardPlace } from './board-place.ts';

/** What a test tells `fixtures/claim-rivals.ts`, as JSON in its first argument. */
export const RivalsOrder = z.strictObject({
  kanboard: BoardPlace,
  /** Folder of their mirrors, and of the world outside. */
  home: z.string(),
  name: z.string(),
  /** How many workers this process is. */
  rivals: z.int(),
});
export type RivalsOrder = z.infer<typeof RivalsOrder>;

/** What a process of rivals says once all of them are through with a task. */
export const RivalsReport = z.object({
  uid: z.string(),
  /** How many of them wrote to the slot of the claim and found it taken. */
  lost: z.int(),
  won: z.int(),
});
export type RivalsReport = z.infer<typeof RivalsReport>;
