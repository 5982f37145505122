import { z } from 'zod';
import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';
import { ContextRef } from '../../fabric/domain/context-ref.ts';
import { AgentId, TaskId } from '../../fabric/domain/ids.ts';
import { Constraints, Priority, Score, Target } from '../../fabric/domain/task.ts';
import { Effects, VerificationPolicy } from '../../fabric/domain/trust.ts';
import { parsedOrRefused } from './invalid-params.ts';

const Instant = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .refine((ms) => ms > 0, 'must lie after 1970');

/** What a submit says beyond its message (`DESIGN.md` 6.2); strict, camelCase, ISO instants. */
export const SubmitExtension = z.strictObject({
  /** `auto`, an agent's id, or the whole target. Only a router takes another than itself. */
  target: z.union([z.literal('auto'), AgentId, Target]).optional(),
  constraints: Constraints.optional(),
  contextRefs: z.array(ContextRef).max(32).optional(),
  priority: Priority.optional(),
  score: Score.optional(),
  deadline: Instant.optional(),
  notBefore: Instant.optional(),
  idempotencyKey: z.string().min(1).max(256).optional(),
  acceptance: z.string().min(1).max(4_000).optional(),
  verification: VerificationPolicy.optional(),
  effects: Effects.optional(),
  onUnavailable: z.enum(['park', 'reject']).optional(),
  execution: z
    .strictObject({
      model: z.string().min(1).max(128).optional(),
      effort: z.string().min(1).max(32).optional(),
      capabilityRevision: z.string().min(7).max(64).optional(),
    })
    .optional(),
  parent: TaskId.optional(),
});
export type SubmitExtension = z.infer<typeof SubmitExtension>;

/**
 * The submit extension of a message; undefined for a message of a foreign client.
 * @throws InvalidParamsError
 */
export function submitExtensionOf(
  metadata: Readonly<Record<string, unknown>> | undefined,
): SubmitExtension | undefined {
  const data = metadata?.[extensionUris.submit];
  if (data === undefined) return undefined;
  return parsedOrRefused(
    SubmitExtension,
    data,
    `params.message.metadata["${extensionUris.submit}"]`,
  );
}
