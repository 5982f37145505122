import { z } from 'zod';
import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { CostClass, Effects, Tier, TrustClass } from '../../fabric/domain/trust.ts';
import { CardAvailability } from './availability.ts';
import { Execution } from './execution.ts';
import { GatewayModel } from './gateway-model.ts';
import { PublicJwk } from './public-key.ts';
import { ToolName } from './tool-name.ts';
import { CardQueue, Timeouts } from './queue.ts';
import { Admit } from './admit.ts';
import { Memory } from './memory.ts';
import { Needs } from './needs.ts';
import { Rehearsal } from './rehearsal.ts';
import { Runner } from './runner.ts';
import { Schedule } from './schedule.ts';
import { CardVerification } from './verification.ts';
import { wrongKind } from './wrong-kind.ts';

/** How an agent works; `agents/runtimes` has one adapter a word. */
export const Runtime = z.enum([
  'model',
  'rehearsal',
  'human',
  'runner',
  'router',
  'executor',
  'observer',
  'planner',
  'reviewer',
]);
export type Runtime = z.infer<typeof Runtime>;

export const CardSkill = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'a skill id is lower-case letters, digits, dashes'),
  name: z.string().trim().min(1).max(100),
  description: z.string().trim().min(1).max(1_000),
  tags: z.array(z.string().trim().min(1).max(50)).min(1).max(20).readonly(),
  examples: z.array(z.string().trim().min(1).max(500)).max(10).readonly().default([]),
});
export type CardSkill = z.infer<typeof CardSkill>;

const VariableName = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'a variable name in capitals');

const CardFile = z.strictObject({
  id: AgentId,
  name: z.string().trim().min(1).max(100),
  description: z.string().trim().min(1).max(2_000),
  version: z
    .string(wrongKind('a version is quoted text: "1.0.0"'))
    .regex(/^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$/, 'a version is like "1.0.0"'),
  skills: z.array(CardSkill).min(1).max(50).readonly(),
  runtime: Runtime,
  runner: Runner.exactOptional(),
  model: GatewayModel.exactOptional(),
  persona: z
    .string()
    .regex(/^personas\/[a-z0-9][a-z0-9._-]*\.md$/, 'a persona is a file like personas/adolf.md')
    .exactOptional(),
  rehearsal: Rehearsal.exactOptional(),
  queue: CardQueue,
  tier: Tier.exactOptional(),
  cost: CostClass,
  trust: TrustClass,
  availability: CardAvailability,
  needs: Needs.exactOptional(),
  identity: PublicJwk.exactOptional(),
  execution: Execution.exactOptional(),
  tools: z.array(ToolName).max(50).readonly().default([]),
  mayCall: z
    .array(z.union([AgentId, z.literal('*')]))
    .max(200)
    .readonly()
    .default([]),
  admit: Admit,
  progress: z.boolean().default(false),
  secrets: z.array(VariableName).max(50).readonly().default([]),
  env: z.array(VariableName).max(50).readonly().default([]),
  unsandboxed: z.literal('accepted').exactOptional(),
  memory: Memory.exactOptional(),
  effects: Effects.exactOptional(),
  schedules: z.array(Schedule).max(50).readonly().default([]),
  responsibleHuman: AgentId.exactOptional(),
  port: z.int().min(1_024).max(65_535).exactOptional(),
  publicCard: z.enum(['minimal', 'none']).default('minimal'),
  optIn: z.strictObject({ metered: z.array(AgentId).readonly().default([]) }).prefault({}),
  verification: CardVerification,
  timeouts: Timeouts,
  createdPerHour: z.int().min(0).max(10_000).default(limits.createdPerHour),
});

/** A registered agent as its `cards/<id>.card.yaml` says, defaults filled in, durations in ms. */
export const Card = CardFile.transform((file) => ({
  ...file,
  queue: toQueue(file),
  ...(file.model && { model: toModel(file.model, file.id) }),
}));
export type Card = z.infer<typeof Card>;

export type CardModel = NonNullable<Card['model']>;
export type QuotaWindow = CardModel['windows'][number];
export type CardRunner = NonNullable<Card['runner']>;

/** The names a Card's top level may have, for suggestions. */
export const cardKeys: readonly string[] = Object.keys(CardFile.shape);

function toQueue({ id, runtime, queue }: z.infer<typeof CardFile>) {
  return {
    project: queue.project ?? QueueId.parse(id),
    concurrency: queue.concurrency,
    leaseMs: queue.lease,
    heartbeatMs: queue.heartbeat ?? Math.floor(queue.lease / 3),
    asyncOnly: queue.asyncOnly ?? runtime === 'human',
  };
}

function toModel(model: z.infer<typeof GatewayModel>, id: AgentId) {
  const windows = model.windows.map(({ scope = id, ...window }) => ({ ...window, scope }));
  return { ...model, windows };
}
