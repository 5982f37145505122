import { z } from 'zod';
import { ContextRef } from './context-ref.ts';
import { AgentId, ContextId, DecisionId, PrincipalId, QueueId, TaskId, type Fence } from './ids.ts';
import { limits } from './limits.ts';
import { CostClass, Effects, Tier, TrustClass, VerificationPolicy } from './trust.ts';

/** What a person or an agent needs of a target that is not pinned. */
export const Constraints = z.strictObject({
  tier: Tier.optional(),
  skill: z.string().min(1).max(64).optional(),
  tools: z.boolean().optional(),
  vision: z.boolean().optional(),
  minContextTokens: z.int().positive().optional(),
  trust: TrustClass.optional(),
  cost: z.array(CostClass).min(1).max(3).optional(),
});
export type Constraints = z.infer<typeof Constraints>;

/** Where a task should go: one agent, whoever satisfies the constraints, or the router's choice. */
export const Target = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent'), agentId: AgentId }),
  z.strictObject({ kind: z.literal('constraints'), need: Constraints }),
  z.strictObject({ kind: z.literal('auto'), floor: Tier.optional(), ceiling: Tier.optional() }),
]);
export type Target = z.infer<typeof Target>;

export const Priority = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]);
export type Priority = z.infer<typeof Priority>;

/** Human estimate of size; 0 = not rated (`DESIGN.md` 4). */
export const Score = z.union(
  ([0, 1, 2, 3, 5, 8, 13, 21] as const).map((score) => z.literal(score)),
  'a score is 0, 1, 2, 3, 5, 8, 13 or 21',
);
export type Score = z.infer<typeof Score>;

/** Model and effort, frozen at acceptance, with where each came from. */
export const Selection = z.strictObject({
  model: z.string().max(128).optional(),
  effort: z.string().max(32).optional(),
  source: z.enum(['explicit', 'accepted-defaults', 'router', 'card']),
  tier: Tier.optional(),
  explain: z.string().max(1_000).optional(),
});
export type Selection = z.infer<typeof Selection>;

/** Who the task comes from and for whom it is done; from credentials, inherited by children. */
export const Provenance = z.strictObject({
  submitter: PrincipalId,
  submitterRole: z.enum(['human', 'agent']),
  submitterTrust: TrustClass,
  /** The human it is done for; absent when an agent acts of its own accord. */
  interlocutor: PrincipalId.optional(),
  /** Router or front that relayed the submit. */
  via: PrincipalId.optional(),
  parent: TaskId.optional(),
  root: TaskId,
  /** 0 for a task without parent. */
  depth: z.int().min(0),
  /** Agents above this task, eldest first; the cycle check reads it. */
  ancestors: z.array(AgentId).max(limits.ancestryDepth + 1),
  relation: z.enum(['child', 'rework', 'escalation', 'review', 'split']).optional(),
});
export type Provenance = z.infer<typeof Provenance>;

/** Everything a submit settles for good; v1 of the log carries it. */
export const TaskDefinition = z.strictObject({
  taskId: TaskId,
  contextId: ContextId,
  intent: z.strictObject({ title: z.string().min(1).max(200), body: z.string() }),
  /** The message's parts as they came (A2A 1.0 JSON), where they are more than one text. */
  parts: z.array(z.record(z.string(), z.unknown())).max(32).optional(),
  messageId: z.string().min(1).max(256).optional(),
  /** SHA-256 over what the submitter said; another content under the same id is refused. */
  digest: z.string(),
  acceptance: z.string().max(4_000).optional(),
  /** Of a rework: what the refused result lacked, in its verifier's words. */
  correction: z.string().min(1).max(limits.answerChars).optional(),
  contextRefs: z.array(ContextRef).max(32),
  target: Target,
  /** The agent whose queue it waits in; absent while the router has still to choose. */
  agentId: AgentId.optional(),
  queue: QueueId,
  selection: Selection.optional(),
  priority: Priority,
  score: Score,
  deadlineAtMs: z.int().positive().optional(),
  notBeforeAtMs: z.int().positive().optional(),
  /** Effective: the wider of Card and submit. */
  effects: Effects,
  verification: VerificationPolicy,
  /** The policy is still to come from the Card of the agent that the router chooses. */
  verificationOpen: z.literal(true).optional(),
  tainted: z.boolean(),
  /** Whether a human must move it to Ready first. */
  admitted: z.boolean(),
  mode: z.enum(['sync', 'async']),
  /** Human that questions without another addressee go to. */
  responsible: PrincipalId,
  provenance: Provenance,
});
export type TaskDefinition = z.infer<typeof TaskDefinition>;

/** A question to somebody; its id is in every answer. Silence is never an answer. */
export const Question = z.strictObject({
  decisionId: DecisionId,
  kind: z.enum(['question', 'gate', 'escalation', 'rating', 'deadline', 'reconcile', 'promotion']),
  text: z.string().min(1).max(limits.answerChars),
  options: z.array(z.string().min(1).max(200)).max(8),
  /** Only these may answer. */
  to: z.array(PrincipalId).min(1).max(8),
  urgent: z.boolean().optional(),
});
export type Question = z.infer<typeof Question>;

/** One product of a run: text up to 8 KiB inline, more by reference. */
export const ResultArtifact = z.strictObject({
  artifactId: z.string().min(1).max(64),
  name: z.string().max(200).optional(),
  mediaType: z.string().max(100),
  text: z.string().optional(),
  /** `git:…` or `artifact:…`, where the text is not inline. */
  ref: z.string().max(1_024).optional(),
  bytes: z.int().min(0),
});
export type ResultArtifact = z.infer<typeof ResultArtifact>;

export const Usage = z.strictObject({
  model: z.string().max(128).optional(),
  inputTokens: z.int().min(0).optional(),
  outputTokens: z.int().min(0).optional(),
  costUsd: z.number().min(0).optional(),
  turns: z.int().min(0).optional(),
});
export type Usage = z.infer<typeof Usage>;

/** What a run reports when it is done; never empty. */
export const Outcome = z.strictObject({
  summary: z.string().min(1).max(limits.messageChars),
  artifacts: z.array(ResultArtifact).max(32),
  usage: Usage.optional(),
  tainted: z.boolean().optional(),
});
export type Outcome = z.infer<typeof Outcome>;

/** Who holds the task right now. */
export interface Claim {
  readonly fence: Fence;
  readonly holder: PrincipalId;
  /** The process that holds it; its OS lock proves life or death on this host. */
  readonly incarnation: string;
  readonly leaseMs: number;
  readonly started: boolean;
  readonly claimedAtMs: number;
}
