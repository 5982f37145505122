import { z } from 'zod';
import { a2aStates } from '../domain/a2a-state.ts';
import { TaskEvent } from '../domain/events.ts';
import { ContextId, QueueId, TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { phases } from '../domain/state.ts';

const Phase = z.enum(phases);

const Query = z.strictObject({
  principal: z.string().min(1).max(64).exactOptional(),
  reviewer: z.boolean().exactOptional(),
  contextId: ContextId.exactOptional(),
  agentId: z.string().max(64).exactOptional(),
  queue: QueueId.exactOptional(),
  parent: TaskId.exactOptional(),
  phases: z.array(Phase).max(phases.length).readonly().exactOptional(),
  shownAs: z.enum(a2aStates).exactOptional(),
  leasesOnly: z.boolean().exactOptional(),
  openOnly: z.boolean().exactOptional(),
  dueBeforeMs: z.number().exactOptional(),
  changedSinceMs: z.number().exactOptional(),
  endedBeforeMs: z.number().exactOptional(),
  minVersion: z.int().positive().exactOptional(),
  submittedBy: z
    .strictObject({ id: z.string().max(64), sinceMs: z.number() })
    .readonly()
    .exactOptional(),
  cursor: z.string().max(512).exactOptional(),
  limit: z.int().min(1).max(500),
});

/** One call to `POST /board`; the TaskBoard port as JSON. */
export const BoardCall = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('append'),
    uid: TaskId,
    version: z.int().positive(),
    event: TaskEvent,
  }),
  z.strictObject({ op: z.literal('read'), uid: TaskId }),
  z.strictObject({
    op: z.literal('list'),
    queue: QueueId,
    nowMs: z.number(),
    limit: z.int().min(1).max(limits.candidates),
  }),
  z.strictObject({ op: z.literal('find'), query: Query }),
  z.strictObject({ op: z.literal('resolve'), taskRef: z.string().max(200) }),
  z.strictObject({ op: z.literal('beat'), uid: TaskId, version: z.int().positive() }),
  z.strictObject({ op: z.literal('depths') }),
  z.strictObject({ op: z.literal('flush') }),
]);
export type BoardCall = z.infer<typeof BoardCall>;

/** A log on the wire; the reader folds it itself, so that no state travels unparsed. */
export const WireLog = z.strictObject({
  uid: TaskId,
  events: z.array(TaskEvent).min(1),
  beats: z
    .strictObject({
      version: z.int().positive(),
      count: z.int().min(0),
      lastAtMs: z.int().positive().exactOptional(),
    })
    .optional(),
  ref: z.strictObject({ boardTaskId: z.string(), url: z.string().optional() }).optional(),
});
export type WireLog = z.infer<typeof WireLog>;

export const BoardAnswers = {
  append: z.enum(['appended', 'conflict', 'unknown']),
  read: WireLog.nullable(),
  list: z.array(TaskId),
  find: z.strictObject({
    logs: z.array(WireLog),
    cursor: z.string().optional(),
    total: z.int().min(0),
  }),
  resolve: TaskId.nullable(),
  beat: z.null(),
  flush: z.null(),
  depths: z.array(
    z.strictObject({ queue: QueueId, phase: Phase, count: z.int(), oldestAtMs: z.number() }),
  ),
} as const;

/** Refusals of `POST /board`, as its problem body says them. */
export const BoardProblem = z.looseObject({
  code: z.string(),
  detail: z.string(),
  path: z.string().optional(),
});
