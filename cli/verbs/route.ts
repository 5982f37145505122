import type { Command } from 'commander';
import { z } from 'zod';
import type { Run } from '../session.ts';
import { rpc } from '../rpc.ts';
import { targetOf } from '../submission.ts';
import { textOfSubmission, withTarget, type SubmissionOptions } from '../submission-options.ts';
import { printable } from '../text/printable.ts';
import { RouteCandidate, routeTable } from '../text/route-table.ts';

const examples = `
Examples:
  mesh route auto --dry-run --score 5 "Why does the build fail?"
  mesh route any --tier large --tools --dry-run "Refactor the parser"

It only says who would get it; \`mesh submit\` with the same words does it.
`;

const RouteAnswer = z.looseObject({
  sentence: z.string(),
  candidates: z.array(RouteCandidate).default([]),
});

export function define(command: Command, run: Run): void {
  withTarget(command)
    .option('--dry-run', 'say it, do nothing (always so)')
    .addHelpText('after', examples)
    .action((target: string, words: string[], options: SubmissionOptions) =>
      run(async (session) => {
        const text = await textOfSubmission(words, options.file, session.terminal);
        const mesh = await session.connect();
        const { score } = options;
        const params = {
          target: targetOf(target, options),
          text,
          ...(score === undefined ? {} : { score }),
        };
        const call = { method: 'cardmesh/route', params, signal: session.signal };
        const answer = await rpc(mesh, call, RouteAnswer);
        return {
          data: answer,
          text: printable(answer.sentence) + routeTable(answer.candidates, session.clock.nowMs()),
        };
      }),
    );
}
