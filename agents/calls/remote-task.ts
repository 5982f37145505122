import { z } from 'zod';
import { a2aStates, type A2aState } from '../../fabric/domain/a2a-state.ts';

const WireState = z.string().transform((state, context) => {
  const known = a2aStates.find((one) => state === `TASK_STATE_${one}` || state === one);
  if (known !== undefined) return known;
  context.addIssue({ code: 'custom', message: 'is no state of a task' });
  return z.NEVER;
});

const Part = z.looseObject({ text: z.string().optional(), url: z.string().optional() });
const Parts = z.array(Part).optional();

const WireStatus = z.looseObject({
  state: WireState,
  message: z.looseObject({ parts: Parts }).nullish(),
});

/** Ours, in the task's metadata; a foreign agent's tasks have none. */
const Ours = z
  .looseObject({
    phase: z.string().optional(),
    reason: z.string().optional(),
    until: z.string().optional(),
    ask: z.string().optional(),
    waits: z.string().optional(),
    options: z.array(z.string()).optional(),
  })
  .catch({});

/** An A2A 1.0 Task as another agent answered it, loosely: what we do not use may be anything. */
export const WireTask = z.looseObject({
  id: z.string().min(1).max(256),
  contextId: z.string().max(256).optional(),
  status: WireStatus,
  artifacts: z
    .array(z.looseObject({ name: z.string().optional(), artifactId: z.string(), parts: Parts }))
    .nullish(),
  metadata: Ours.nullish(),
});

/** A task that another agent has, as its caller sees it. All text in it is somebody else's. */
export interface RemoteTask {
  readonly taskId: string;
  readonly contextId?: string;
  readonly state: A2aState;
  /** Ours; absent for a foreign agent's task. */
  readonly phase?: string;
  readonly reason?: string;
  /** What the caller is asked: `verify`, or the kind of the open question. */
  readonly ask?: string;
  /** Text of the status: the question, or why it failed. */
  readonly said?: string;
  readonly options?: readonly string[];
  /** What it waits for, in one sentence. */
  readonly waits?: string;
  /** Texts of its artifacts, joined; where one is elsewhere, its address. */
  readonly result: string;
}

export function toRemoteTask(task: z.infer<typeof WireTask>): RemoteTask {
  const { phase, reason, ask, options, waits } = task.metadata ?? {};
  const said = textOf(task.status.message?.parts);
  return {
    taskId: task.id,
    ...(task.contextId !== undefined && { contextId: task.contextId }),
    state: task.status.state,
    ...(phase !== undefined && { phase }),
    ...(reason !== undefined && { reason }),
    ...(ask !== undefined && { ask }),
    ...(said !== '' && { said }),
    ...(options !== undefined && { options }),
    ...(waits !== undefined && { waits }),
    result: (task.artifacts ?? [])
      .map(({ parts }) => textOf(parts))
      .filter((text) => text !== '')
      .join('\n\n'),
  };
}

const textOf = (parts: z.infer<typeof Parts>): string =>
  (parts ?? []).map(({ text, url }) => text ?? url ?? '').join('');

const ended: ReadonlySet<string> = new Set<A2aState>([
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
]);

/** Whether waiting for it is over: ended, asking, or done and to be verified. */
export const isAtRest = ({
  state,
  phase,
}: {
  readonly state: string;
  readonly phase?: string;
}): boolean => ended.has(state) || state === 'INPUT_REQUIRED' || phase === 'done';

const StreamResult = z.looseObject({
  task: WireTask.optional(),
  statusUpdate: z.looseObject({ status: WireStatus, metadata: Ours.nullish() }).optional(),
});

/** Whether this frame of a stream (its `result`) says that waiting is over. */
export function endsWaiting(result: unknown): boolean {
  const { task, statusUpdate } = StreamResult.safeParse(result).data ?? {};
  if (task) return isAtRest(toRemoteTask(task));
  if (!statusUpdate) return false;
  const phase = statusUpdate.metadata?.phase;
  return isAtRest({ state: statusUpdate.status.state, ...(phase !== undefined && { phase }) });
}
