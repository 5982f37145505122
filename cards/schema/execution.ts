import { z } from 'zod';
import { wrongKind } from './wrong-kind.ts';

export const ExecutorName = z.enum(['claude-code', 'codex', 'goose', 'pi']);
export type ExecutorName = z.infer<typeof ExecutorName>;

export const ModelId = z.string().trim().min(1).max(128);
export const Effort = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'lower-case letters and dashes');

const rfc3339 = 'an RFC 3339 instant with zone, in quotes: "2026-01-31T12:00:00Z"';
/** How the inventory was established; not a promise that the provider still serves it. */
export const InventoryVerification = z
  .strictObject({
    source: z.enum(['operator_probe', 'runtime_probe']),
    verifiedAt: z.iso.datetime({ offset: true, ...wrongKind(rfc3339) }),
    executorVersion: z.string().trim().min(1).max(64),
  })
  .transform(({ verifiedAt, ...rest }) => ({ ...rest, verifiedAtMs: Date.parse(verifiedAt) }));

/**
 * Which models and efforts an executor was seen to run. Without `verification` nothing is
 * selectable; a default that is missing or null is unknown, and no rule stands in for it.
 */
export const Execution = z.strictObject({
  executor: ExecutorName,
  models: z
    .array(z.strictObject({ id: ModelId, efforts: z.array(Effort).max(16).readonly().default([]) }))
    .max(64)
    .readonly()
    .default([]),
  defaults: z
    .strictObject({
      model: ModelId.nullable().default(null),
      effort: Effort.nullable().default(null),
    })
    .prefault({}),
  /** Model turns of one run, 5..40 by `DESIGN.md` 11. */
  iterationLimit: z.int().min(5).max(40).default(20),
  verification: InventoryVerification.exactOptional(),
});
export type Execution = z.infer<typeof Execution>;
