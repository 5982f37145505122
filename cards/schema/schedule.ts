import { Cron } from 'croner';
import { z } from 'zod';
import { AgentId } from '../../fabric/domain/ids.ts';
import { Effects } from '../../fabric/domain/trust.ts';
import { TimeZone } from './weekly-hours.ts';

export const Schedule = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, 'lower-case letters, digits and dashes'),
  cron: z.string().refine(isCron, { error: 'not a cron pattern such as "0 8 * * mon-fri"' }),
  zone: TimeZone,
  title: z.string().min(1).max(200),
  body: z.string().max(8_192).default(''),
  /** Absent: the agent itself. */
  target: AgentId.exactOptional(),
  effects: Effects.exactOptional(),
});
export type Schedule = z.infer<typeof Schedule>;

function isCron(pattern: string): boolean {
  try {
    return new Cron(pattern, { paused: true }).getPattern() === pattern;
  } catch {
    return false;
  }
}
