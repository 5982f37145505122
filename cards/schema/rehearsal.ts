import { z } from 'zod';
import { AgentId } from '../../fabric/domain/ids.ts';
import { Duration } from './duration.ts';

/** What a scripted agent says: the first line whose `when` occurs in the message, in any case. */
export const RehearsalLine = z.strictObject({
  when: z.string().min(1).max(200).exactOptional(),
  answer: z.string().min(1).max(4_000).exactOptional(),
  ask: z.string().min(1).max(1_000).exactOptional(),
  delay: Duration.exactOptional(),
  /** Gives `text` to another agent, waits, and says its answer after its own. */
  submit: z.strictObject({ agent: AgentId, text: z.string().min(1).max(4_000) }).exactOptional(),
});
export const Rehearsal = z.strictObject({
  script: z.array(RehearsalLine).min(1).max(100).readonly(),
});
