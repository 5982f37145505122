import { z } from 'zod';
import { Duration } from './duration.ts';

/** What a scripted agent says: the first line whose `when` occurs in the message, in any case. */
export const RehearsalLine = z.strictObject({
  when: z.string().min(1).max(200).exactOptional(),
  answer: z.string().min(1).max(4_000).exactOptional(),
  ask: z.string().min(1).max(1_000).exactOptional(),
  delay: Duration.exactOptional(),
});
export const Rehearsal = z.strictObject({
  script: z.array(RehearsalLine).min(1).max(100).readonly(),
});
