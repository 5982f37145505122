import type { PrincipalId } from '../domain/ids.ts';
import { closedPhases, type TaskState } from '../domain/state.ts';
import type { PersonAct } from '../kanboard/people/person-act.ts';
import { planComment } from './plan-comment.ts';
import { planEdit } from './plan-edit.ts';
import { planMove } from './plan-move.ts';
import { command, nothing, planRework, refusal, type Plan } from './plan.ts';

/**
 * What `act` means (`DESIGN.md` 5.2). `state` is the task as its person saw it, so that who closes what is
 * still at work cancels it, and never verifies a result that came in between. Whether they may is for the use
 * cases to say.
 */
export function planFor(
  { did, row }: Pick<PersonAct, 'did' | 'row'>,
  state: TaskState,
  person: PrincipalId,
): Plan {
  switch (did.kind) {
    // A task that is ours was not made by a person's hand.
    case 'created':
      return nothing;
    case 'moved':
      return planMove(state, did.to);
    case 'closed':
      return planClose(state);
    case 'reopened':
      return closedPhases.has(state.phase) ? planRework(state) : nothing;
    case 'commented':
      return planComment(state, person, did.text);
    case 'edited':
      return planEdit(state, person, row, did.fields);
  }
}

function planClose(state: TaskState): Plan {
  switch (state.phase) {
    case 'done':
    case 'approved':
      return command({ do: 'verify' });
    case 'suggested':
    case 'dead-letter':
      return command({ do: 'archive' });
    case 'reviewing':
    case 'deploying':
    case 'deploy-failed':
      return refusal(`It is ${state.phase}, and only that decides now. Wait for its end.`);
    case 'submitted':
    case 'ready':
    case 'scheduled':
    case 'paused':
    case 'claimed':
    case 'working':
    case 'waiting-event':
    case 'input-required':
    case 'needs-review':
      return command({ do: 'cancel' });
    case 'verified':
    case 'refused':
    case 'canceled':
    case 'rejected':
    case 'split':
    case 'archived':
      return nothing;
  }
}
