import type { Phase, TaskState } from '../../fabric/domain/state.ts';

const words: Readonly<Record<Phase, string>> = {
  suggested: 'suggested',
  submitted: 'to be admitted',
  ready: 'ready',
  scheduled: 'scheduled',
  paused: 'paused',
  claimed: 'taken',
  working: 'working',
  'waiting-event': 'waits for an event',
  'input-required': 'waits for an answer',
  'needs-review': 'uncertain, look at it',
  done: 'done, not verified',
  reviewing: 'in review',
  approved: 'approved, not verified',
  deploying: 'deploying',
  'deploy-failed': 'deploy failed',
  verified: 'verified',
  refused: 'refused',
  'dead-letter': 'given up',
  canceled: 'canceled',
  rejected: 'rejected',
  split: 'split up',
  archived: 'archived',
};

/** `1a2b3c4d is ready`, `1a2b3c4d waits for an answer`. */
export function standing(name: string, state: Parameters<typeof phaseWords>[0]): string {
  const words = phaseWords(state);
  return words.startsWith('waits ') ? `${name} ${words}` : `${name} is ${words}`;
}

/** A task's state in words; `parked` is known only with its agent's availability. */
export function phaseWords(
  state: Pick<TaskState, 'phase' | 'cancelRequested' | 'task'>,
  parked = false,
): string {
  if (parked && (state.phase === 'ready' || state.phase === 'scheduled')) return 'parked';
  if (state.cancelRequested && state.phase === 'working') return 'stopping';
  if (state.phase === 'done' && state.task.verification === 'none') return 'done';
  return words[state.phase];
}
