import { Cron } from 'croner';
import { z } from 'zod';
import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import {
  CostClass,
  Effects,
  Tier,
  TrustClass,
  VerificationPolicy,
} from '../../fabric/domain/trust.ts';
import { Duration } from './duration.ts';
import { TimeZone } from './weekly-hours.ts';

/** The agent's work list; `project` absent: the Card's id. */
export const CardQueue = z
  .strictObject({
    project: QueueId.exactOptional(),
    concurrency: z.int().min(1).max(100).default(1),
    lease: Duration.default(limits.leaseMs),
    heartbeat: Duration.exactOptional(),
    /** Never run while a caller waits; humans never do. */
    asyncOnly: z.boolean().exactOptional(),
  })
  .prefault({});

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

/** A program that does the work: one JSON packet on stdin, one JSON object on stdout. */
export const Runner = z
  .strictObject({
    /** argv, no shell. `{catalog}` and `{home}` stand for the shipped and the operator's folder. */
    command: z.array(z.string().min(1).max(1_000)).min(1).max(64).readonly(),
    timeout: Duration.default(2 * 60_000),
    /** Fixed, public values; a secret's name goes to the Card's `secrets`. */
    env: z.record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/), z.string().max(1_000)).default({}),
  })
  .transform(({ timeout, ...rest }) => ({ ...rest, timeoutMs: timeout }));

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

export const Memory = z.strictObject({
  bank: z.string().regex(/^[a-z][a-z0-9-]{0,47}$/, 'a bank name is like an agent id'),
  /** Other banks it reads; `shared` is everybody's. */
  reads: z.array(z.string().min(1).max(48)).readonly().default([]),
});

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

export const Timeouts = z
  .strictObject({
    run: Duration.default(limits.runTimeoutMs),
    wait: Duration.default(limits.waitMs),
  })
  .transform(({ run, wait }) => ({ runMs: run, waitMs: wait }))
  .prefault({});

/** Trust classes, Card ids, or `principal:<id>` for a token's principal without a Card. */
export const defaultAdmit: readonly string[] = [TrustClass.enum.human, TrustClass.enum.trusted];

function isCron(pattern: string): boolean {
  try {
    return new Cron(pattern, { paused: true }).getPattern() === pattern;
  } catch {
    return false;
  }
}
