import type { EventOf } from '../events.ts';
import { widerEffects } from '../trust.ts';
import { refuse, to, unclaimedPhases, type TaskState, type Transition } from '../state.ts';

/** v1: the task as it was submitted. Where it starts was decided by the submit use case. */
export function submitted(event: EventOf<'submitted'>): Transition {
  const { task } = event;
  return {
    ok: true,
    state: {
      taskId: task.taskId,
      contextId: task.contextId,
      task,
      version: 1,
      phase: event.to,
      queue: task.queue,
      ...(task.agentId ? { agentId: task.agentId } : {}),
      ...(task.selection ? { selection: task.selection } : {}),
      priority: task.priority,
      score: task.score,
      ...(task.deadlineAtMs === undefined ? {} : { deadlineAtMs: task.deadlineAtMs }),
      ...(task.notBeforeAtMs === undefined ? {} : { notBeforeAtMs: task.notBeforeAtMs }),
      attempts: 0,
      everWorked: false,
      decisions: [],
      needsHumanVerify: task.tainted || task.verification === 'human',
      ...(event.to === 'rejected' ? { failure: event.reason ?? 'rejected' } : {}),
      cancelRequested: false,
      receipts: {},
      notes: [],
      links: [],
      submittedAtMs: event.atMs,
      phaseAtMs: event.atMs,
    },
  };
}

/** A human moves a suggested or submitted task to Ready; the fabric may, where it is admitted anyway. */
export function admitted(before: TaskState, event: EventOf<'admitted'>): Transition {
  if (before.phase !== 'submitted' && before.phase !== 'suggested') return refuse('wrongPhase');
  if (event.by.role !== 'human' && !(event.by.role === 'fabric' && before.task.admitted)) {
    return refuse('humanOnly');
  }
  return to(before, event, { phase: readyPhase(before) });
}

/** Before anybody has claimed it; a question about its deadline or its size is about what is edited here. */
export function isEditable({ phase, question }: TaskState): boolean {
  if (unclaimedPhases.has(phase) || phase === 'paused') return true;
  return (
    phase === 'input-required' && (question?.kind === 'deadline' || question?.kind === 'rating')
  );
}

/** What a person changes before anybody has claimed it. It answers no question by itself. */
export function edited(before: TaskState, event: EventOf<'edited'>): Transition {
  if (!isEditable(before)) return refuse('wrongPhase');
  if (event.by.role !== 'human') return refuse('humanOnly');
  const drop: (keyof TaskState)[] = [];
  if (event.deadlineAtMs === null) drop.push('deadlineAtMs');
  if (event.notBeforeAtMs === null) drop.push('notBeforeAtMs');
  return to(
    before,
    event,
    {
      ...(event.priority === undefined ? {} : { priority: event.priority }),
      ...(event.score === undefined ? {} : { score: event.score }),
      ...(event.deadlineAtMs ? { deadlineAtMs: event.deadlineAtMs } : {}),
      ...(event.notBeforeAtMs ? { notBeforeAtMs: event.notBeforeAtMs } : {}),
      ...queuedAs(before, event),
      ...wordedAs(before, event),
    },
    drop,
  );
}

/** Another wording; the digest stays, by which the submit is known when it comes again. */
function wordedAs({ task }: TaskState, { title, body }: EventOf<'edited'>): Partial<TaskState> {
  if (title === undefined && body === undefined) return {};
  const intent = { title: title ?? task.intent.title, body: body ?? task.intent.body };
  return { task: { ...task, intent } };
}

/** What waits in a queue is scheduled while it has a time, and only then. */
function queuedAs({ phase }: TaskState, { notBeforeAtMs }: EventOf<'edited'>): Partial<TaskState> {
  if (notBeforeAtMs === undefined || (phase !== 'ready' && phase !== 'scheduled')) return {};
  return { phase: notBeforeAtMs === null ? 'ready' : 'scheduled' };
}

/**
 * The router's choice, appended before the relay, so that a resend follows it. Where the chosen agent does
 * not admit the submitter it waits for a person, as a task that was pinned to that agent would.
 */
export function routed(before: TaskState, event: EventOf<'routed'>): Transition {
  if (!unclaimedPhases.has(before.phase)) return refuse('wrongPhase');
  if (before.agentId !== undefined) return refuse('wrongPhase');
  const isOutside = event.admitted === false;
  const isReady = before.phase === 'ready' || before.phase === 'scheduled';
  const { verificationOpen, ...task } = before.task;
  const verification = (verificationOpen && event.verification) ?? task.verification;
  return to(before, event, {
    agentId: event.agentId,
    queue: event.queue,
    ...(isOutside && isReady ? { phase: 'submitted' } : {}),
    task: {
      ...task,
      verification,
      admitted: task.admitted && !isOutside,
      effects: widerEffects(task.effects, event.effects ?? 'none'),
    },
    needsHumanVerify: before.needsHumanVerify || verification === 'human',
    ...(event.selection ? { selection: event.selection } : {}),
  });
}

export function paused(before: TaskState, event: EventOf<'paused'>): Transition {
  if (!unclaimedPhases.has(before.phase)) return refuse('wrongPhase');
  if (event.by.role !== 'human') return refuse('humanOnly');
  return to(before, event, { phase: 'paused', pausedFrom: before.phase });
}

/** Back to where it was: a pause takes away no leave that the task had, and its end gives none. */
export function resumed(before: TaskState, event: EventOf<'resumed'>): Transition {
  if (before.phase !== 'paused') return refuse('wrongPhase');
  if (event.by.role !== 'human') return refuse('humanOnly');
  const { pausedFrom } = before;
  const waitedForLeave = pausedFrom === 'submitted' || pausedFrom === 'suggested';
  const phase = waitedForLeave ? pausedFrom : readyPhase(before);
  return to(before, event, { phase }, ['pausedFrom']);
}

/** Ready, or scheduled while its `notBefore` lies ahead; the claim itself checks that it is due. */
export function readyPhase(state: TaskState): 'ready' | 'scheduled' {
  return state.notBeforeAtMs !== undefined ? 'scheduled' : 'ready';
}
