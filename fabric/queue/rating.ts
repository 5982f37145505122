import type { TaskState } from '../domain/state.ts';
import type { Question, TaskDefinition } from '../domain/task.ts';
import { decisionIdFor, humanFor } from '../domain/transition/questions.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';

/** Whether its tier would come from a score that nobody has given (`DESIGN.md` 4). */
export function needsScore({ target, selection, score }: TaskDefinition): boolean {
  const tierKnown =
    target.kind === 'agent' ||
    selection?.tier !== undefined ||
    (target.kind === 'constraints' && target.need.tier !== undefined);
  return !tierKnown && score === 0;
}

/** What its person is asked while nobody has rated a task; the answer decides the tier. */
export function ratingQuestion(state: TaskState): Question {
  return {
    decisionId: decisionIdFor(state),
    kind: 'rating',
    text:
      'How large is this task? The score decides which tier of model may do it: up to 2 small, up to ' +
      '5 medium, more large. It waits until somebody rates it.',
    options: ['1', '2', '3', '5', '8', '13', '21'],
    to: [humanFor(state)],
  };
}

/**
 * Where the tier would come from the score, an unrated task asks for one; never a cheap run. It waits in
 * `submitted` meanwhile, so that no worker takes it before the question is on record. A suggested task is
 * asked about once it is admitted, by the router.
 */
export async function askForScore(deps: QueueDeps, state: TaskState): Promise<TaskState> {
  if (!needsScore(state.task) || state.phase === 'suggested') return state;
  const by = { id: state.task.responsible, role: 'fabric' as const };
  return change(deps, state.taskId, (log) =>
    log.state.version === state.version
      ? eventOf(deps, by, 'asked', { question: ratingQuestion(state) })
      : undefined,
  );
}
