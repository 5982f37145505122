import type { Command } from 'commander';
import { z } from 'zod';
import type { Run } from '../program.ts';
import { rpc } from '../rpc.ts';
import { targetOf } from '../submission.ts';
import { textOfSubmission, withTarget, type SubmissionOptions } from '../submission-options.ts';
import { columns } from '../text/columns.ts';
import { oneLine, printable } from '../text/printable.ts';
import { instant } from '../text/relative-time.ts';

const examples = `
Examples:
  mesh route auto --dry-run --score 5 "Why does the build fail?"
  mesh route any --tier large --tools --dry-run "Refactor the parser"

It only says who would get it; \`mesh submit\` with the same words does it.
`;

const Candidate = z.looseObject({
  agentId: z.string(),
  gatewayModel: z.string().optional(),
  tier: z.string().optional(),
  cost: z.string().optional(),
  verdict: z.string(),
  reasons: z.array(z.string()).default([]),
  untilMs: z.number().optional(),
});

const RouteAnswer = z.looseObject({
  sentence: z.string(),
  candidates: z.array(Candidate).default([]),
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
        return { data: answer, text: routeText(answer, session.clock.nowMs()) };
      }),
    );
}

const fates: Readonly<Record<string, string>> = {
  chosen: 'chosen',
  passedOver: 'free, another came first',
  unavailable: 'not now',
  filtered: 'can’t',
};

function routeText({ sentence, candidates }: z.infer<typeof RouteAnswer>, nowMs: number): string {
  const rows = candidates.map((one) => [
    one.agentId,
    one.gatewayModel ?? '',
    one.tier ?? '',
    one.cost ?? '',
    fates[one.verdict] ?? one.verdict,
    oneLine(one.reasons.join('; ')) +
      (one.untilMs === undefined ? '' : ` until ${instant(one.untilMs, nowMs)}`),
  ]);
  const heading = ['agent', 'model', 'tier', 'cost', 'verdict', 'why'];
  const list = rows.length === 0 ? '' : `\n\n${columns([heading, ...rows])}`;
  return `${printable(sentence)}${list}`;
}
