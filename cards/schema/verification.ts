import { z } from 'zod';
import { VerificationPolicy } from '../../fabric/domain/trust.ts';

/** A policy word, or the policy and `reviewer` for an agent that may verify the work of others. */
export const CardVerification = z
  .union([
    VerificationPolicy.transform((policy) => ({ policy, reviewer: false })),
    z.strictObject({
      policy: VerificationPolicy.default('submitter'),
      reviewer: z.boolean().default(false),
    }),
  ])
  .default({ policy: 'submitter', reviewer: false });
