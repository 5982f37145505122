import { z } from 'zod';
import { AgentId } from '../fabric/domain/ids.ts';
import { CostClass, Tier, TrustClass } from '../fabric/domain/trust.ts';

export const Modality = z.enum(['text', 'image', 'audio']);
export type Modality = z.infer<typeof Modality>;

/** What an agent or a model must have. Everything absent is no demand. */
export const Need = z
  .strictObject({
    /** The pool wanted; where no such model is registered the next tier up takes its place. */
    tier: Tier.optional(),
    /** Every tier from here up is as good; the lowest that is available is taken. */
    tierAtLeast: Tier.optional(),
    tools: z.boolean().optional(),
    /** Tokens the context must hold. */
    minContext: z.int().positive().optional(),
    modality: z.array(Modality).min(1).readonly().optional(),
    /** Skill or capability words, all of them. */
    caps: z.array(z.string().min(1).max(64)).min(1).readonly().optional(),
    /** The least trust class that will do. */
    trust: TrustClass.optional(),
    cost: z.array(CostClass).min(1).readonly().optional(),
  })
  .readonly();
export type Need = z.infer<typeof Need>;

/** Whom a submit is for: one agent, whoever satisfies a need, or the router's own choice. */
export const Target = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('agent'), agentId: AgentId }),
    z.strictObject({ kind: z.literal('constraints'), need: Need }),
    z.strictObject({ kind: z.literal('auto'), floor: Tier.optional(), ceiling: Tier.optional() }),
  ])
  .readonly();
export type Target = z.infer<typeof Target>;
