import type { TaskEvent, TaskEventKind } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { Phase, TaskState } from '../../fabric/domain/state.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';
import { builtAtMs, submittedEvent } from './board-builders.ts';
import { rightEventOf } from './right-event.ts';

type Start = 'submitted' | 'ready' | 'scheduled' | 'suggested' | 'rejected';

/** How a log gets to each phase, or, for those that no event leads to yet, beside it. */
const ways: Readonly<Record<Phase, readonly [Start, ...TaskEventKind[]]>> = {
  suggested: ['suggested'],
  submitted: ['submitted'],
  ready: ['ready'],
  scheduled: ['scheduled'],
  rejected: ['rejected'],
  paused: ['ready', 'paused'],
  claimed: ['ready', 'claimed'],
  working: ['ready', 'claimed', 'started'],
  'waiting-event': ['ready', 'claimed', 'started', 'deferred'],
  'input-required': ['ready', 'claimed', 'started', 'asked'],
  'needs-review': ['ready', 'claimed', 'started', 'uncertain'],
  done: ['ready', 'claimed', 'started', 'settled'],
  reviewing: ['ready', 'claimed', 'started', 'settled', 'reviewStarted'],
  approved: ['ready', 'claimed', 'started', 'settled', 'reviewStarted', 'reviewed'],
  deploying: ['ready', 'claimed', 'started', 'settled', 'reviewStarted', 'reviewed'],
  'deploy-failed': ['ready', 'claimed', 'started', 'settled', 'reviewStarted', 'reviewed'],
  verified: ['ready', 'claimed', 'started', 'settled', 'verified'],
  refused: ['ready', 'claimed', 'started', 'settled', 'refused'],
  'dead-letter': ['ready', 'deadLettered'],
  canceled: ['ready', 'canceled'],
  split: ['ready', 'claimed', 'started', 'asked', 'split'],
  archived: ['ready', 'archived'],
};

/** No event leads there before deployer and intake sources are served. */
const notServedYet: ReadonlySet<Phase> = new Set<Phase>([
  'waiting-event',
  'deploying',
  'deploy-failed',
]);

/** A task of nobody in particular, verified by a reviewer, that changes only its own workspace. */
export function unroutedTask(change: Partial<TaskDefinition> = {}) {
  return submittedEvent({
    definition: {
      target: { kind: 'auto' },
      effects: 'workspace',
      verification: 'reviewer',
      ...change,
    },
  }).task;
}

/** The first event of a log: `task` put at `to`. */
export function firstEvent(definition: TaskDefinition, to: Start): TaskEvent {
  const { agentId: _pinned, ...task } = definition;
  return { ...submittedEvent(), task, to };
}

/** A state that real events led to. */
export function taskIn(phase: Phase, change: Partial<TaskDefinition> = {}): TaskState {
  const [start, ...kinds] = ways[phase];
  const due = start === 'scheduled' ? { notBeforeAtMs: builtAtMs - 1_000 } : {};
  const begun = after(undefined, firstEvent(unroutedTask({ ...due, ...change }), start));
  const state = afterKinds(begun, ...kinds);
  return notServedYet.has(phase) ? { ...state, phase } : state;
}

/** The state after one more event. */
export function after(state: TaskState | undefined, event: TaskEvent): TaskState {
  return fold([event], state)!;
}

/** The state after the right event of each kind. */
export const afterKinds = (state: TaskState, ...kinds: readonly TaskEventKind[]): TaskState =>
  kinds.reduce((now, kind) => after(now, rightEventOf(now, kind)), state);
