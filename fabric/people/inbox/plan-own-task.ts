import type { TaskState } from '../../domain/state.ts';
import { nothing, refuse, type ActSituation, type InboxPlan } from './act-situation.ts';

/** Its person may say it is done before anything was asked of them; words are what makes it a result. */
export function planOwnTask({ did, state, human, lastWords }: ActSituation): InboxPlan {
  const isDone = did.kind === 'closed' || (did.kind === 'moved' && did.to === 'done');
  const isDrag = did.kind === 'moved' && (did.to === 'approved' || did.to === 'rejected');
  if (!isDone && !isDrag) return nothing;
  if (state.outcome !== undefined) return planOwnResult(state, did.kind === 'closed' || isDrag);
  const wasAnswered = state.decisions.some(
    ({ by, kind }) => by === human && (kind === 'question' || kind === 'gate'),
  );
  // What they answered becomes the result with the next run of their agent.
  if (wasAnswered && isDone) return nothing;
  if (state.question) {
    const whom = state.question.to.map((person) => `**${person}**`).join(' or ');
    return refuse(`It waits for an answer of ${whom} first.`, true);
  }
  if (isDrag) return refuse('Nothing was asked here that yes or no answers.', true);
  if (lastWords !== undefined) return { do: 'finish', text: lastWords };
  return refuse(
    'It is done once you say what came of it: comment that, then drag it to Done again.',
    true,
  );
}

/** Who made a result may not verify it, so closing one's own says nothing; it lies in Done as it is. */
function planOwnResult({ task, phase }: TaskState, isElsewhere: boolean): InboxPlan {
  const waits = phase === 'done' && task.verification !== 'none' && isElsewhere;
  if (!waits) return nothing;
  return refuse('Your result is on record; who asked for it verifies and closes it.', true);
}
