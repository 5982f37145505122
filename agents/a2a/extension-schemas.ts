import { z } from 'zod';
import { DecisionId, TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { Priority, Score, Target } from '../../fabric/domain/task.ts';
import { Text } from './request-schemas.ts';

/** Parameters of `urn:cardmesh:ext:review:v1` and of steering; strict, unlike A2A's own. */

/** A task id, a prefix of it with at least 6 digits, or the board's own ref. */
const taskId = Text.min(1).max(128);
const note = Text.min(1).max(limits.answerChars).optional();

export const AnswerParams = z.strictObject({
  taskId,
  decisionId: DecisionId,
  value: Text.min(1).max(limits.answerChars),
  note,
});

export const VerifyParams = z.strictObject({
  taskId,
  verdict: z.enum(['verified', 'refused']),
  note,
  commit: Text.min(1).max(64).optional(),
  rework: z.boolean().optional(),
});

/** What a run does now, in a sentence; the task is its own one. */
export const ProgressParams = z.strictObject({
  taskId: TaskId.optional(),
  text: Text.refine((text) => text.trim() !== '', 'must not be empty').refine(
    (text) => Buffer.byteLength(text) <= limits.progressBytes,
    `must have at most ${limits.progressBytes} bytes`,
  ),
});

export const WhyParams = z.strictObject({ taskId });

/** Who would get this, and why; nothing is submitted. Only a router answers it. */
export const RouteParams = z.strictObject({
  target: Target,
  text: Text.max(limits.inlineBytes),
  score: Score.optional(),
});

const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .refine((ms) => ms > 0, 'must lie after 1970')
  .or(z.int().positive());

const Edit = z.strictObject({
  priority: Priority.optional(),
  score: Score.optional(),
  /** ISO instant or ms since the epoch; null takes it away. */
  deadlineAtMs: instant.nullable().optional(),
  notBeforeAtMs: instant.nullable().optional(),
  title: Text.min(1).max(200).optional(),
  body: Text.max(limits.inlineBytes).optional(),
});

const plain = ['admit', 'pause', 'resume', 'archive'] as const;

/** Which of them it is, before the rest is looked at. */
export const SteerAction = z.looseObject({
  do: z.enum([...plain, 'deadletter', 'revoke', 'edit']),
});

export const SteerParams = z.discriminatedUnion('do', [
  z.strictObject({ taskId, do: z.enum(plain) }),
  z.strictObject({
    taskId,
    do: z.literal('deadletter'),
    reason: Text.min(1).max(limits.messageChars),
  }),
  z.strictObject({ taskId, do: z.literal('revoke'), to: z.enum(['ready', 'submitted', 'paused']) }),
  z.strictObject({ taskId, do: z.literal('edit'), edit: Edit }),
]);
