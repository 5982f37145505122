import { closedPhases, type Phase, type TaskState } from '../domain/state.ts';
import type { ColumnRole } from './board-projects.ts';

/** What a board task shows of its log, the table of `DESIGN.md` 4.2; a projection, it decides nothing. */
export interface BoardView {
  /** Undefined: where it is. */
  readonly column: ColumnRole | undefined;
  /** Ours only; people's own tags stay. */
  readonly tags: readonly string[];
  readonly isOpen: boolean;
}

const columns: Readonly<Record<Phase, ColumnRole | 'asked' | 'as-before'>> = {
  suggested: 'waiting',
  submitted: 'waiting',
  ready: 'ready',
  scheduled: 'ready',
  paused: 'waiting',
  claimed: 'working',
  working: 'working',
  'waiting-event': 'working',
  'input-required': 'asked',
  'needs-review': 'working',
  done: 'done',
  reviewing: 'done',
  approved: 'done',
  deploying: 'done',
  'deploy-failed': 'done',
  verified: 'done',
  refused: 'done',
  'dead-letter': 'waiting',
  canceled: 'as-before',
  rejected: 'as-before',
  split: 'as-before',
  archived: 'as-before',
};

const tagsOf: Readonly<Partial<Record<Phase, readonly string[]>>> = {
  suggested: ['suggested'],
  scheduled: ['scheduled'],
  paused: ['paused'],
  'waiting-event': ['waiting-event'],
  'input-required': ['blocked'],
  'needs-review': ['blocked', 'needs-review'],
  reviewing: ['review-pending'],
  approved: ['approved'],
  deploying: ['deploying'],
  'deploy-failed': ['blocked', 'deploy-failed'],
  refused: ['refused'],
  'dead-letter': ['dead-letter'],
  canceled: ['canceled'],
  rejected: ['rejected'],
  split: ['split'],
  archived: ['archived'],
};

/** Every tag that the mesh sets and takes away; no other is touched. */
export const ownTags: ReadonlySet<string> = new Set([
  ...Object.values(tagsOf).flat(),
  'needs-human-verify',
]);

export function boardViewOf(state: TaskState): BoardView {
  const { phase, needsHumanVerify } = state;
  const waitsForHuman = phase === 'done' && needsHumanVerify;
  return {
    column: columnFor(state),
    tags: [...(tagsOf[phase] ?? []), ...(waitsForHuman ? ['needs-human-verify'] : [])],
    isOpen: !closedPhases.has(phase),
  };
}

function columnFor({ phase, askedFrom = 'working' }: TaskState): ColumnRole | undefined {
  const column = columns[phase];
  if (column === 'as-before') return undefined;
  if (column !== 'asked') return column;
  const before = columns[askedFrom];
  return before === 'asked' || before === 'as-before' ? 'working' : before;
}
