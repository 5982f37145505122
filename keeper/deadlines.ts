import type { Author } from '../fabric/domain/events.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { Question } from '../fabric/domain/task.ts';
import { decisionIdFor, humanFor } from '../fabric/domain/transition/questions.ts';
import { transition } from '../fabric/domain/transition.ts';
import { change, eventOf } from '../fabric/queue/change.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { eachTask } from './each-task.ts';

/**
 * Asks the responsible human about tasks that nobody took before their deadline. It fails nothing and
 * decides nothing; each deadline is asked about once. Returns how many questions it put.
 */
export async function sweepDeadlines(deps: QueueDeps, by: Author): Promise<number> {
  const nowMs = deps.clock.nowMs();
  const query = { dueBeforeMs: nowMs, phases: ['submitted', 'ready', 'scheduled'] } as const;
  return eachTask(deps, 'deadlines', query, async (seen) => {
    if (wasAsked(seen)) return false;
    const after = await change(deps, seen.taskId, ({ state }) => {
      if (!isLate(state, nowMs) || wasAsked(state)) return undefined;
      const event = eventOf(deps, by, 'asked', { question: questionFor(state) });
      // One that takes no question any more, all of its 64 asked, keeps its place.
      return transition(state, event).ok ? event : undefined;
    });
    return after.version > seen.version;
  });
}

function isLate(state: TaskState, nowMs: number): boolean {
  const waits =
    state.phase === 'submitted' || state.phase === 'ready' || state.phase === 'scheduled';
  return waits && state.deadlineAtMs !== undefined && state.deadlineAtMs <= nowMs;
}

const wasAsked = (state: TaskState): boolean =>
  state.decisions.some(
    (decision) => decision.kind === 'deadline' && decision.atMs >= (state.deadlineAtMs ?? 0),
  );

function questionFor(state: TaskState): Question {
  const due = new Date(state.deadlineAtMs ?? 0).toISOString().slice(0, 16).replace('T', ' ');
  return {
    decisionId: decisionIdFor(state),
    kind: 'deadline',
    text:
      `This task was due ${due} UTC and nobody has started it. go on = it keeps its place and is done ` +
      'late, cancel = end it. For a new deadline set it first (mesh task edit), then answer go on.',
    options: ['go on', 'cancel'],
    to: [humanFor(state)],
    urgent: true,
  };
}
