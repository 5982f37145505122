import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { shortId, taskNamed } from '../task-ref.ts';
import { printable } from '../text/printable.ts';
import { routeTable } from '../text/route-table.ts';
import { whyOf } from './show.ts';

const examples = `
Examples:
  mesh why 1a2b3c4d
  for task in $(mesh tasks --phase ready --json | jq -r '.tasks[].taskId'); do mesh why $task; done
`;

export function define(command: Command, run: Run): void {
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .addHelpText('after', examples)
    .action((ref: string) =>
      run(async (session) => {
        const mesh = await session.connect();
        const { state } = await taskNamed(mesh, ref);
        const { sentence, candidates } = await whyOf(session, mesh, state);
        const weighed = routeTable(candidates, session.clock.nowMs());
        return {
          data: {
            ...{ taskId: state.taskId, phase: state.phase, sentence },
            ...(candidates.length > 0 && { candidates }),
          },
          text: `${shortId(state.taskId)}: ${printable(sentence)}${weighed}`,
        };
      }),
    );
}
