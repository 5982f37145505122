import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { shortId, taskNamed, taskRpc } from '../task-ref.ts';
import { phaseOf, stateOf, WireTask } from '../../agents/calls/wire-task.ts';

const examples = `
Examples:
  mesh cancel 1a2b3c4d
  mesh tasks --mine --phase ready --json | jq -r '.tasks[].taskId' | xargs -n1 mesh cancel

One that is being worked on is stopped first. One that acted outside is left for a person to judge.
`;

export function define(command: Command, run: Run): void {
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .addHelpText('after', examples)
    .action((ref: string) =>
      run(async (session) => {
        const mesh = await session.connect();
        const { uid, state } = await taskNamed(mesh, ref);
        session.progress(`canceling ${shortId(uid)}`);
        session.onInterrupt(
          `Stopped waiting; the cancel may be on record. See: mesh show ${shortId(uid)}`,
        );
        const call = { method: 'CancelTask', params: { id: uid }, signal: session.signal };
        const task = await taskRpc(mesh, state, call, WireTask);
        const ended = stateOf(task) === 'CANCELED';
        const text = ended
          ? `${shortId(uid)} is canceled.`
          : `${shortId(uid)} was asked to stop and is ${phaseOf(task) ?? stateOf(task).toLowerCase()}. Follow it: mesh watch ${shortId(uid)}`;
        return { data: task, text };
      }),
    );
}
