import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { defineFinish } from './task-finish.ts';
import { defineGiveUp } from './task-give-up.ts';
import { defineHold } from './task-hold.ts';
import { defineSteer } from './task-steer.ts';

const examples = `
A loop outside the mesh works under the same claim and fence as a worker inside it:

  task=$(mesh task next --agent claude-coder --json) || exit 0
  id=$(jq -r .taskId <<<"$task"); fence=$(jq -r .fence <<<"$task")
  jq -r .text <<<"$task" | my-agent > answer.md \\
    && mesh task done "$id" --fence "$fence" --file answer.md \\
    || mesh task fail "$id" --fence "$fence" --reason "my-agent exited $?"

By hand:
  mesh task admit 1a2b3c4d
  mesh task edit 1a2b3c4d --priority 1 --deadline 2d
`;

export function define(command: Command, run: Run): void {
  command.usage('[options] <verb> …').addHelpText('after', examples);
  defineHold(command, run);
  defineFinish(command, run);
  defineGiveUp(command, run);
  defineSteer(command, run);
}
