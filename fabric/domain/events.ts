import { z } from 'zod';
import { AgentId, DecisionId, Fence, PrincipalId, QueueId, TaskId } from './ids.ts';
import { limits } from './limits.ts';
import { Outcome, Priority, Question, Score, Selection, TaskDefinition } from './task.ts';
import { Effects, VerificationPolicy } from './trust.ts';

/** Who an event is from; `fabric` and `keeper` act by rule and never judge. */
export const Author = z.strictObject({
  id: PrincipalId,
  role: z.enum(['human', 'agent', 'keeper', 'fabric']),
});
export type Author = z.infer<typeof Author>;

const note = z.string().max(limits.answerChars);
const reason = z.string().min(1).max(limits.messageChars);
const fence = Fence;

function event<K extends string, S extends z.core.$ZodLooseShape>(kind: K, shape: S) {
  return z.strictObject({
    kind: z.literal(kind),
    by: Author,
    atMs: z.int().positive(),
    /** Random, or of the act it takes in; tells the writer's own event in a slot from another's after an unclear answer. */
    token: z.string().min(8).max(64),
    ...shape,
  });
}

/** Every change of a task; nothing changes state in any other way (`DESIGN.md` 4.1). */
export const TaskEvent = z.discriminatedUnion('kind', [
  event('submitted', {
    task: TaskDefinition,
    to: z.enum(['submitted', 'ready', 'scheduled', 'suggested', 'rejected']),
    reason: reason.optional(),
  }),
  event('admitted', {}),
  event('edited', {
    priority: Priority.optional(),
    score: Score.optional(),
    deadlineAtMs: z.int().positive().nullable().optional(),
    notBeforeAtMs: z.int().positive().nullable().optional(),
    title: z.string().min(1).max(200).optional(),
    body: z.string().max(limits.inlineBytes).optional(),
  }),
  event('routed', {
    agentId: AgentId,
    queue: QueueId,
    selection: Selection.optional(),
    /** What the chosen agent may do; the task's own become the wider of both. */
    effects: Effects.optional(),
    /** The policy of the chosen agent's Card; it holds where the submitter said none. */
    verification: VerificationPolicy.optional(),
    /** False: the chosen agent's Card does not admit the submitter, so a person must let it in. */
    admitted: z.boolean().optional(),
  }),
  event('paused', {}),
  event('resumed', {}),
  event('claimed', {
    holder: PrincipalId,
    incarnation: z.string().min(1).max(64),
    leaseMs: z.int().positive(),
    /** Given when nothing lies between claim and start: the number of this attempt. */
    attempt: z.int().positive().optional(),
  }),
  event('started', { fence, attempt: z.int().positive() }),
  event('released', { fence, reason }),
  event('expired', { fence, reason }),
  event('failed', { fence, reason, retryable: z.boolean() }),
  event('parked', { fence, reason, untilMs: z.int().positive().optional() }),
  event('deferred', { fence, wakeAtMs: z.int().positive() }),
  event('awaited', { fence, eventId: z.string().min(1).max(128) }),
  event('arrived', { eventId: z.string().min(1).max(128) }),
  event('asked', { fence: fence.optional(), question: Question }),
  event('answered', { decisionId: DecisionId, value: note.min(1), note: note.optional() }),
  event('uncertain', { fence, reason }),
  event('settled', { fence, outcome: Outcome }),
  event('revokeRequested', { to: z.enum(['ready', 'submitted', 'paused']) }),
  event('revoked', { fence }),
  event('cancelRequested', { reason: reason.optional() }),
  event('canceled', { fence: fence.optional(), reason: reason.optional() }),
  event('split', { children: z.array(TaskId).min(1).max(limits.splitChildren) }),
  event('reviewStarted', {}),
  event('reviewed', {
    verdict: z.enum(['approve', 'reject', 'escalate']),
    subject: z.string().min(1).max(200),
    note: note.optional(),
  }),
  event('deployStarted', { subject: z.string().min(1).max(200) }),
  event('deployed', { subject: z.string().min(1).max(200), ok: z.boolean() }),
  event('verified', { note: note.optional(), commit: z.string().max(64).optional() }),
  event('refused', { note: note.min(1), rework: TaskId.optional() }),
  event('deadLettered', { reason }),
  event('archived', {}),
  event('noted', {
    messageId: z.string().min(1).max(256),
    text: z.string().max(limits.inlineBytes),
  }),
  event('linked', { relation: z.enum(['child', 'rework', 'escalation', 'split']), taskId: TaskId }),
  event('receipted', {
    key: z.string().min(1).max(128),
    status: z.enum(['prepared', 'sending', 'published', 'unknown']),
    digest: z.string().max(64),
  }),
]);
export type TaskEvent = z.infer<typeof TaskEvent>;
export type TaskEventKind = TaskEvent['kind'];
/** The event of one kind. */
export type EventOf<K extends TaskEventKind> = Extract<TaskEvent, { kind: K }>;
