import { z } from 'zod';

/** human > trusted > sandboxed > untrusted; on every Card (`DESIGN.md` 7). */
export const TrustClass = z.enum(['human', 'trusted', 'sandboxed', 'untrusted']);
export type TrustClass = z.infer<typeof TrustClass>;

/** What a run may change outside its answer; a Card that says nothing is `external`. */
export const Effects = z.enum(['none', 'workspace', 'external']);
export type Effects = z.infer<typeof Effects>;

const width: Readonly<Record<Effects, number>> = { none: 0, workspace: 1, external: 2 };

/** The wider of two; effective effects = the wider of Card and submit. */
export function widerEffects(one: Effects, other: Effects): Effects {
  return width[one] >= width[other] ? one : other;
}

/** Who may call a finished task verified (`DESIGN.md` 4.3). */
export const VerificationPolicy = z.enum(['submitter', 'reviewer', 'human', 'none']);
export type VerificationPolicy = z.infer<typeof VerificationPolicy>;

/** small < medium < large < reasoning: a policy word, not a prediction of quality. */
export const Tier = z.enum(['small', 'medium', 'large', 'reasoning']);
export type Tier = z.infer<typeof Tier>;

export const CostClass = z.enum(['free-local', 'flat-quota', 'metered']);
export type CostClass = z.infer<typeof CostClass>;
