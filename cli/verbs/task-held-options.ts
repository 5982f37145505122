import type { Command } from 'commander';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Result } from '../session.ts';
import { parseCount } from '../submission-options.ts';
import { shortId } from '../task-ref.ts';
import { standing } from '../text/phase-words.ts';

/** The task, and how you say that you hold it. */
export const withHold = (command: Command): Command =>
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .option('--fence <n>', 'the number that `next` or `take` gave', parseCount)
    .option('--agent <id>', 'in place of --fence: the agent in whose name you hold it');

/** Where a task stands after a change. */
export const standsAt = (state: TaskState): Result => ({
  data: state,
  text: `${standing(shortId(state.taskId), state)}.`,
});
