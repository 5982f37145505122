import type { Command } from 'commander';
import { sendAndFollow } from '../follow-task.ts';
import type { Result, Run, Session } from '../session.ts';
import { withSubmission, withTimeout } from '../submission-options.ts';
import { oneLine, printable } from '../text/printable.ts';
import { artifactText, partsText, type StreamFrame } from '../../agents/calls/wire-task.ts';
import { replyResult, type WaitingOptions } from './send.ts';
import { submissionOf } from './submit.ts';

const examples = `
Examples:
  mesh stream adolf "Audit the plan, risk by risk" --file plan.md
  mesh stream auto --score 3 "Why is the sky blue?"
  mesh stream adolf "Count the risks" --jsonl | jq -c .

--json prints one document at the end: the task as it then is. --jsonl prints each frame at once.
`;

interface StreamOptions extends WaitingOptions {
  readonly jsonl?: true;
}

export function define(command: Command, run: Run): void {
  withTimeout(withSubmission(command, 'nobody'))
    .option('--jsonl', 'each frame as one line of JSON, as it comes')
    .addHelpText('after', examples)
    .action((target: string, words: string[], options: StreamOptions) =>
      run(async (session) => {
        const mesh = await session.connect();
        const submission = await submissionOf(session, mesh, target, words, options, 'none');
        const shown = frameWriter(session, options.jsonl ?? false);
        const reply = await sendAndFollow(session, mesh, submission, {
          ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
          onFrame: shown.write,
        });
        const result = replyResult(session, reply);
        if (options.jsonl) return { ...result, silent: true };
        return shown.hasText() && !session.globals.json ? withoutRepeat(session, result) : result;
      }),
    );
}

/** Writes text as it comes; a whole that replaces its own chunks was seen already. */
function frameWriter({ terminal, globals, note }: Session, jsonl: boolean) {
  const seen = new Set<string>();
  return {
    hasText: () => seen.size > 0,
    write: (frame: StreamFrame): void => {
      if (jsonl) terminal.out(`${JSON.stringify(frame)}\n`);
      else if (globals.json) return;
      else if ('artifactUpdate' in frame) {
        const { artifact, append } = frame.artifactUpdate;
        if (seen.has(artifact.artifactId) && append !== true) return;
        seen.add(artifact.artifactId);
        terminal.out(printable(artifactText(artifact)));
      } else if ('statusUpdate' in frame && frame.statusUpdate.status.message) {
        note(oneLine(partsText(frame.statusUpdate.status.message), terminal.columns));
      }
    },
  };
}

/** The answer stands on the screen already; what is left is its last line and how it ended. */
function withoutRepeat({ terminal }: Session, result: Result): Result {
  terminal.out('\n');
  return (result.exitCode ?? 0) === 0 ? { ...result, text: '' } : result;
}
