import { z } from 'zod';
import { Duration } from './duration.ts';
import { TimeZone } from './weekly-hours.ts';

export const QuotaUnit = z.enum(['request', 'token']);

/**
 * One quota of a subscription: 60 requests per 5 h. `anchored` opens at its first use, `sliding`
 * looks back from now, `calendar` starts at midnight of its zone.
 */
export const QuotaWindow = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'lower-case letters, digits and dashes'),
    unit: QuotaUnit.default('request'),
    cap: z.int().positive(),
    length: Duration,
    kind: z.enum(['sliding', 'anchored', 'calendar']).default('sliding'),
    zone: TimeZone.exactOptional(),
    /** Share of the cap, 0..1, that background work may not touch; 25 % by `DESIGN.md` 11. */
    reserveInteractive: z.number().min(0).max(1).default(0.25),
    /** Cards of one subscription share a scope; absent: the Card's own id. */
    scope: z.string().min(1).max(64).exactOptional(),
  })
  .transform(({ length, ...rest }) => ({ ...rest, lengthMs: length }));

export const ModelCapability = z.enum([
  'tools',
  'vision',
  'audio',
  'json',
  'reasoning',
  'streaming',
]);
export type ModelCapability = z.infer<typeof ModelCapability>;

/** A model agent's fixed model, as the gateway names it. Only model agents have one. */
export const GatewayModel = z.strictObject({
  /** LiteLLM `model_name`, a pin or a group; metered ones live under `paid/`. */
  gateway: z.string().min(1).max(128),
  contextTokens: z.int().positive(),
  maxOutputTokens: z.int().positive().exactOptional(),
  caps: z.array(ModelCapability).readonly().default([]),
  maxParallel: z.int().min(1).max(1_000).exactOptional(),
  windows: z.array(QuotaWindow).max(8).readonly().default([]),
});
