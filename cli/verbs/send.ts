import type { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import { sendAndFollow, type Reply } from '../follow-task.ts';
import type { Result, Run, Session } from '../session.ts';
import { withSubmission, withTimeout, type SubmissionOptions } from '../submission-options.ts';
import { answerResult, doneWord } from '../text/answer-text.ts';
import { printable } from '../text/printable.ts';
import { submissionOf } from './submit.ts';

const examples = `
Examples:
  mesh send adolf "Which of these risks is the largest?" --file risks.md
  mesh send any --tier small --timeout 2m "Translate to German: good morning"
  echo "https://example.org" | mesh send link-checker --json | jq -r .id

Ctrl-C stops the waiting, not the task: its id and how to go on are printed.
`;

export interface WaitingOptions extends SubmissionOptions {
  readonly timeout?: number;
}

export function define(command: Command, run: Run): void {
  withTimeout(withSubmission(command, 'nobody'))
    .addHelpText('after', examples)
    .action((target: string, words: string[], options: WaitingOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const submission = await submissionOf(session, mesh, target, words, options, 'none');
        session.progress(`asking ${target}`);
        const reply = await sendAndFollow(session, mesh, submission, {
          ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
        });
        return replyResult(session, reply);
      }),
    );
}

/** What came of a message; which task it was stands beside it. A foreign agent's bare answer has no task behind it. */
export function replyResult({ note }: Session, reply: Reply): Result {
  if ('task' in reply) {
    const word = doneWord(reply.task);
    if (word !== undefined) note(word);
    return answerResult(reply.task);
  }
  return { data: { text: reply.text }, text: printable(reply.text), exitCode: exitCodes.ok };
}
