import type { Command } from 'commander';
import { z } from 'zod';
import { waitsForMesh, waitsOnBoard } from '../follow-task.ts';
import { rpc } from '../rpc.ts';
import type { Run, Session } from '../session.ts';
import { toSubmission, type Submission } from '../submission.ts';
import { textOfSubmission, withSubmission, type SubmissionOptions } from '../submission-options.ts';
import { taskNamed } from '../task-ref.ts';
import { phaseOf, stateOf, textOf, WireTask } from '../../agents/calls/wire-task.ts';
import type { MeshConnection } from '../mesh-connection.ts';

const examples = `
Examples:
  mesh submit adolf "Audit the release plan" --ref git:plans@HEAD#release.md
  git diff | mesh submit any --tier large --tools --acceptance "Every finding names a line"
  mesh submit auto --score 5 --deadline 3d --key nightly-$(date +%F) "Sum up the night's builds"
`;

export function define(command: Command, run: Run): void {
  withSubmission(command)
    .addHelpText('after', examples)
    .action((target: string, words: string[], options: SubmissionOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const submission = await submissionOf(session, mesh, target, words, options);
        session.onInterrupt(
          `Stopped before the mesh had answered. The same again with --key ${submission.messageId} names the same task.`,
        );
        const { task } = await rpc(
          mesh,
          {
            ...(submission.agentId === undefined ? {} : { agentId: submission.agentId }),
            method: 'SendMessage',
            params: { message: submission.message, configuration: { returnImmediately: true } },
            signal: session.signal,
          },
          z.object({ task: WireTask }),
        );
        if (mesh.inProcess) session.note(mesh.isShared ? waitsOnBoard : waitsForMesh);
        return { data: task, text: submittedText(task) };
      }),
    );
}

/** The message of a command line; `verification` is the policy where none is given, else the Card's. */
export async function submissionOf(
  session: Session,
  mesh: MeshConnection,
  target: string,
  words: readonly string[],
  options: SubmissionOptions,
  verification?: string,
): Promise<Submission> {
  const text = await textOfSubmission(words, options.file, session.terminal);
  const parent = options.parent === undefined ? undefined : await taskNamed(mesh, options.parent);
  return toSubmission(target, text, options, {
    nowMs: session.clock.nowMs(),
    messageId: options.key ?? `cli-${session.random.hex(12)}`,
    ...(verification === undefined ? {} : { verification }),
    ...(parent ? { parent: parent.uid } : {}),
  });
}

function submittedText(task: WireTask): string {
  const id = task.id.slice(0, 8);
  const waits = textOf(task.metadata?.['waits']);
  const state = phaseOf(task) ?? stateOf(task).toLowerCase();
  return `${id} is ${state}.${waits === undefined ? '' : ` ${waits}`}`;
}
