import type { Phase, TaskState } from './state.ts';

/** A2A 1.0 task states, without their wire prefix. */
export const a2aStates = [
  'SUBMITTED',
  'WORKING',
  'INPUT_REQUIRED',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'REJECTED',
] as const;
export type A2aState = (typeof a2aStates)[number];

export interface A2aView {
  readonly state: A2aState;
  /** Ours, shown in the task's metadata. */
  readonly phase: Phase;
  readonly reason?: string;
  readonly verification?: 'verified' | 'unverified';
  /** What the viewer is asked: `verify`, or the kind of the open question. */
  readonly ask?: string;
  /** What all others are told it waits for. */
  readonly awaiting?: string;
}

export const isTerminal = (state: A2aState): boolean =>
  state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELED' || state === 'REJECTED';

/** States at which a waiting call returns. */
export const isResting = (view: A2aView): boolean =>
  isTerminal(view.state) || view.state === 'INPUT_REQUIRED' || view.phase === 'done';

/**
 * Our states in A2A's words: the table of `DESIGN.md` 4.2 and 4.3, here and nowhere else. A monotone
 * projection: a task that ever worked never shows SUBMITTED again.
 * @param viewerMayVerify whether the one who looks may verify it now
 */
export function a2aViewOf(state: TaskState, viewerMayVerify = false): A2aView {
  const { phase } = state;
  const waiting = (): A2aView => ({ state: state.everWorked ? 'WORKING' : 'SUBMITTED', phase });
  switch (phase) {
    case 'suggested':
    case 'submitted':
    case 'ready':
    case 'scheduled':
    case 'paused':
      return waiting();
    case 'claimed':
    case 'working':
    case 'waiting-event':
      return { state: 'WORKING', phase };
    case 'input-required':
      return {
        state: 'INPUT_REQUIRED',
        phase,
        ...(state.question && { ask: state.question.kind }),
      };
    case 'needs-review':
      return { state: 'INPUT_REQUIRED', phase, reason: 'uncertain', ask: 'reconcile' };
    case 'done':
    case 'reviewing':
    case 'approved':
    case 'deploying':
    case 'deploy-failed':
      return unverified(state, viewerMayVerify);
    case 'verified':
      return { state: 'COMPLETED', phase, verification: 'verified' };
    case 'refused':
      return { state: 'FAILED', phase, reason: 'verification-refused' };
    case 'dead-letter':
      return { state: 'FAILED', phase, reason: 'dead-letter' };
    case 'canceled':
      return { state: 'CANCELED', phase };
    case 'split':
      return { state: 'REJECTED', phase, reason: 'split' };
    case 'rejected':
      return { state: 'REJECTED', phase, ...(state.failure && { reason: state.failure }) };
    case 'archived':
      return archived(state, viewerMayVerify);
  }
}

/** Done is not verified; without our extension a caller sees COMPLETED at once (`DESIGN.md` 4.3). */
function unverified(state: TaskState, viewerMayVerify: boolean): A2aView {
  const { phase } = state;
  if (state.task.verification === 'none') {
    return { state: 'COMPLETED', phase, verification: 'unverified' };
  }
  const asks = viewerMayVerify && (phase === 'done' || phase === 'approved');
  if (asks) return { state: 'INPUT_REQUIRED', phase, ask: 'verify' };
  return { state: 'WORKING', phase, awaiting: state.needsHumanVerify ? 'human' : 'verification' };
}

/** What had ended stays as it was published; the rest ends as CANCELED. */
function archived(state: TaskState, viewerMayVerify: boolean): A2aView {
  const before = a2aViewOf(
    { ...state, phase: state.phaseBeforeArchive ?? 'submitted' },
    viewerMayVerify,
  );
  return isTerminal(before.state)
    ? { ...before, phase: 'archived' }
    : { state: 'CANCELED', phase: 'archived', reason: 'archived' };
}
