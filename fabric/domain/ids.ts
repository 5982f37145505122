import { createHmac } from 'node:crypto';
import { z } from 'zod';

/** 32 lower-case hex digits; the task's one name on every store and wire (A2A `Task.id`). */
export const TaskId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'a task id is 32 lower-case hex digits')
  .brand<'TaskId'>();
export type TaskId = z.infer<typeof TaskId>;

/** An agent's or a person's id as its Card names it: `adolf`, `claude-coder`, `alvis`. */
export const AgentId = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,47}$/,
    'an agent id is lower-case letters, digits and dashes, at most 48',
  )
  .brand<'AgentId'>();
export type AgentId = z.infer<typeof AgentId>;

/** Who acts: an agent id, or the id behind an API token. Taken from the credential, never from a body. */
export const PrincipalId = z.string().min(1).max(64).brand<'PrincipalId'>();
export type PrincipalId = z.infer<typeof PrincipalId>;

/** The work list that workers drain; a Kanboard project's name. */
export const QueueId = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,47}$/,
    'a queue name is lower-case letters, digits and dashes, at most 48',
  )
  .brand<'QueueId'>();
export type QueueId = z.infer<typeof QueueId>;

/** Root of a family of tasks; A2A's `contextId`. */
export const ContextId = z.string().min(1).max(128).brand<'ContextId'>();
export type ContextId = z.infer<typeof ContextId>;

/** One question to one person; an answer names it exactly. */
export const DecisionId = z
  .string()
  .regex(/^d-[0-9a-f]{16}$/, 'a decision id is d- and 16 hex digits')
  .brand<'DecisionId'>();
export type DecisionId = z.infer<typeof DecisionId>;

/** What somebody outside calls a thing they took from us: printable ASCII, not blank. */
export const ReceiptId = z
  .string()
  .regex(/^(?=.*\S)[\x20-\x7e]{1,128}$/, 'a receipt id is 1 to 128 printable ASCII characters');

/** Version of the claim in the task's log. An overtaken run finds the slot after it taken, and stops. */
export const Fence = z.int().positive().brand<'Fence'>();
export type Fence = z.infer<typeof Fence>;

/**
 * The task id that a submit names: 128 bits of HMAC(mesh secret, submitter | target | key), so that
 * submitting twice, anywhere, at any time, names the same task (`DESIGN.md` 4).
 */
export function taskIdFor(secret: string, submitter: string, target: string, key: string): TaskId {
  const mac = createHmac('sha256', secret);
  for (const part of [submitter, target, key]) mac.update(`${Buffer.byteLength(part)}:${part}|`);
  return mac.digest('hex').slice(0, 32) as TaskId;
}
