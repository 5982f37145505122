import type { Command } from 'commander';
import { mayAnswer, mayVerify } from '../../fabric/domain/access.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { ownPrincipal } from '../own-principal.ts';
import type { Run } from '../program.ts';
import { inboxPage } from '../text/inbox-page.ts';

const examples = `
Examples:
  mesh inbox
  mesh inbox --json | jq '.questions[] | {taskId, question}'
`;

const mostTasks = 500;

export function define(command: Command, run: Run): void {
  command.addHelpText('after', examples).action(() =>
    run(async (session) => {
      const mesh = await session.connect();
      const me = ownPrincipal(mesh);
      const { states } = await mesh.board.find({
        principal: me.id,
        phases: ['input-required', 'needs-review', 'done', 'approved'],
        limit: mostTasks,
      });
      const questions = urgentFirst(states.filter((state) => mayAnswer(state, me)));
      const results = states.filter(
        (state) => state.task.verification !== 'none' && mayVerify(state, me),
      );
      return {
        data: { principal: me.id, questions, results },
        text: inboxPage(questions, results, session.clock.nowMs(), session.terminal.paint),
      };
    }),
  );
}

/** Urgent questions first, then who has waited longest. */
function urgentFirst(states: readonly TaskState[]): TaskState[] {
  const rank = (state: TaskState): number => (state.question?.urgent ? 0 : 1);
  return [...states].sort((a, b) => rank(a) - rank(b) || a.phaseAtMs - b.phaseAtMs);
}
