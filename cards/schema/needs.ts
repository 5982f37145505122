import { z } from 'zod';
import { CostClass, Tier } from '../../fabric/domain/trust.ts';

/** How a persona gets its backbone, resolved at each submit. */
export const Needs = z.strictObject({
  tier: Tier.exactOptional(),
  tools: z.boolean().default(false),
  contextTokens: z.int().positive().exactOptional(),
  modality: z
    .array(z.enum(['text', 'image', 'audio']))
    .min(1)
    .readonly()
    .default(['text']),
  cost: z.array(CostClass).min(1).readonly().default(['free-local', 'flat-quota']),
});
export type Needs = z.infer<typeof Needs>;
