import type { TaskState } from '../domain/state.ts';
import type { ColumnRole } from '../kanboard/board-projects.ts';
import { boardViewOf } from '../kanboard/board-view.ts';
import { command, nothing, planRework, refusal, waitsFor, type Plan } from './plan.ts';

const needsOutcome =
  'Done takes a result, and none is on record. The agent that works on it puts it there. Who did the work by ' +
  'hand says so with `mesh task take` and `mesh task done`. To end it without a result, close it.';
const agentsOnly = 'Agents take their work themselves. Drag it to Ready, and one does.';
const foreignColumn =
  'The mesh has no meaning for that column. It knows Backlog, Ready, Work in progress and Done.';

/** What a drag means, by the column it ended in; undefined: one that the mesh does not know. */
export function planMove(state: TaskState, to: ColumnRole | undefined): Plan {
  if (boardViewOf(state).column === to && to !== undefined) return nothing;
  switch (to) {
    case 'ready':
      return planReady(state);
    case 'waiting':
      return planWaiting(state);
    case 'working':
      return refusal(agentsOnly);
    case 'done':
      return planDone(state);
    case undefined:
    case 'approved':
    case 'rejected':
      return refusal(foreignColumn);
  }
}

function planReady(state: TaskState): Plan {
  switch (state.phase) {
    case 'suggested':
    case 'submitted':
    case 'paused':
      return command({ do: 'letIn' });
    case 'ready':
    case 'scheduled':
      return nothing;
    case 'claimed':
    case 'working':
      return command({ do: 'takeBack', to: 'ready' });
    case 'waiting-event':
    case 'input-required':
    case 'needs-review':
      return refusal(waitsFor(state));
    case 'reviewing':
    case 'deploying':
    case 'deploy-failed':
      return refusal(`It is ${state.phase}. Wait for its end.`);
    case 'done':
    case 'approved':
    case 'verified':
    case 'refused':
    case 'dead-letter':
    case 'canceled':
    case 'rejected':
    case 'split':
    case 'archived':
      return planRework(state);
  }
}

function planWaiting(state: TaskState): Plan {
  switch (state.phase) {
    case 'suggested':
    case 'submitted':
    case 'paused':
    case 'dead-letter':
      return nothing;
    case 'ready':
    case 'scheduled':
    case 'claimed':
    case 'working':
      return command({ do: 'takeBack', to: 'paused' });
    case 'waiting-event':
    case 'input-required':
    case 'needs-review':
      return refusal(waitsFor(state));
    default:
      return refusal('It has ended. Drag it to Ready to have it done anew, as a new task.');
  }
}

function planDone(state: TaskState): Plan {
  if (state.question) return refusal(waitsFor(state));
  return state.outcome ? nothing : refusal(needsOutcome);
}
