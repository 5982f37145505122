import type { Command } from 'commander';
import { standingPark, type TaskState } from '../../fabric/domain/state.ts';
import type { Result } from '../session.ts';
import { parseCount } from '../submission-options.ts';
import { shortId } from '../task-ref.ts';
import { standing } from '../text/phase-words.ts';
import { oneLine } from '../text/printable.ts';
import { instant } from '../text/relative-time.ts';

/** The task, and how you say that you hold it. */
export const withHold = (command: Command): Command =>
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .option('--fence <n>', 'the number that `next` or `take` gave', parseCount)
    .option('--agent <id>', 'in place of --fence: the agent in whose name you hold it');

/** Where a task stands after a change. */
export const standsAt = (state: TaskState): Result => ({
  data: state,
  text: `${held(state)}.`,
});

function held(state: TaskState): string {
  const name = shortId(state.taskId);
  const park = standingPark(state, state.phaseAtMs);
  if (park === undefined) return standing(name, state);
  return `${name} is parked until ${instant(park.untilMs, state.phaseAtMs)}: ${oneLine(park.reason)}`;
}
