import type { Command } from 'commander';
import { z } from 'zod';
import { InvalidValueError, MeshError } from '../../fabric/domain/errors.ts';
import type { Run } from '../session.ts';
import { givenText } from '../submission-options.ts';
import { shortId, taskNamed, taskRpc } from '../task-ref.ts';
import { oneLine } from '../text/printable.ts';
import { WireTask } from '../../agents/calls/wire-task.ts';

const examples = `
Examples:
  mesh answer 1a2b3c4d approve
  mesh answer 1a2b3c4d "The one in Berlin" --note "asked the owner"
  mesh answer 1a2b3c4d - < answer.md

Silence is never an answer; the same answer again changes nothing.
`;

interface AnswerOptions {
  readonly note?: string;
  readonly decision?: string;
}

export function define(command: Command, run: Run): void {
  command
    .argument('<task>', 'its id, or 6 or more of its first digits')
    .argument('<value...>', 'one of the options, or your own words; `-` reads standard input')
    .option('--note <text>', 'why, for the log')
    .option('--decision <id>', 'refuse unless this is the open question (from `mesh inbox --json`)')
    .addHelpText('after', examples)
    .action((ref: string, words: string[], { note, decision }: AnswerOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const { uid, state } = await taskNamed(mesh, ref);
        // Nothing is open: then it is the last answer said again, or a try to change it; the mesh knows which.
        const open = state.question ?? state.decisions.at(-1);
        const decisionId = decision ?? open?.decisionId;
        if (decisionId === undefined) throw nothingAsked(uid, state.phase);
        const value = (await givenText(words, session.terminal)).trim();
        if (value === '') throw emptyAnswer(uid, state.question?.options ?? []);
        const params = {
          taskId: uid,
          decisionId,
          value,
          ...(note === undefined ? {} : { note }),
        };
        const call = { method: 'cardmesh/answer', params, signal: session.signal };
        const { task } = await taskRpc(mesh, state, call, z.looseObject({ task: WireTask }));
        const isAgain = state.decisions.some((given) => given.decisionId === decisionId);
        return {
          data: task,
          text: isAgain ? wasAnswered(uid) : `Answered. ${shortId(uid)} goes on.`,
        };
      }),
    );
}

const wasAnswered = (uid: string): string =>
  `${shortId(uid)} was answered so before; nothing has changed.`;

function emptyAnswer(uid: string, options: readonly string[]): InvalidValueError {
  const words =
    options.length > 0
      ? `Answer with one of: ${options.map((one) => `"${oneLine(one)}"`).join(', ')}.`
      : 'Write it after the task, or pipe it in with `-`.';
  return new InvalidValueError(`The answer to ${shortId(uid)} is empty. ${words}`, 'value');
}

function nothingAsked(uid: string, phase: string): MeshError {
  return new MeshError(
    'STALE_DECISION',
    `Task ${shortId(uid)} asks nothing: it is ${phase}. See \`mesh inbox\` for what is open.`,
    { taskId: uid },
  );
}
