import { Option, type Command } from 'commander';
import { cardKey } from '../../cards/registry/agent-key.ts';
import { cardHistory, diffCards } from '../../cards/registry/card-history.ts';
import { lintCards, listCards, showCard } from '../../cards/registry/card-operations.ts';
import { gitIn, type Git } from '../../cards/registry/git.ts';
import { newCard } from '../../cards/registry/new-card.ts';
import { Runtime } from '../../cards/schema/card.ts';
import { isError } from '../../cards/schema/card-problem.ts';
import { loadEnvironment } from '../config.ts';
import { exitCodes } from '../exit-codes.ts';
import { cardIds, homeView } from '../home-view.ts';
import { requireHome } from '../require-home.ts';
import type { Result, Run, Session } from '../session.ts';
import { parseCount } from '../submission-options.ts';
import { widthOf } from '../terminal.ts';
import {
  cardPage,
  cardTable,
  differenceLines,
  historyTable,
  inPlaceNote,
  problemLines,
} from '../text/card-pages.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { shellWord } from '../text/shell-word.ts';

const examples = `
Examples:
  mesh cards lint                            the files as they lie there
  mesh cards list --ref HEAD
  mesh cards new translator --runtime model && $EDITOR .mesh/cards/translator.card.yaml

What is committed is what runs: a commit that passes lint is live within seconds.
`;

interface RefOption {
  readonly ref?: string;
}

export function define(command: Command, run: Run): void {
  command.usage('[options] <verb> …').addHelpText('after', examples);
  defineReading(command, run);
  defineHistory(command, run);
  defineMaking(command, run);
}

const withRef = (command: Command): Command =>
  command.option('--ref <commit>', 'as committed there (default: the files as they lie there)');

function defineReading(command: Command, run: Run): void {
  withRef(command.command('lint').alias('validate'))
    .description('check every Card, all problems at once')
    .addHelpText('after', lintExamples)
    .action(({ ref }: RefOption) => run((session) => lint(session, ref)));
  withRef(command.command('list'))
    .description('list the agents')
    .addHelpText('after', listExamples)
    .action(({ ref }: RefOption) =>
      run(async (session) => {
        const { rows, inPlace } = await listCards(await homeView(session, ref));
        if (inPlace) session.note(inPlaceNote(inPlace));
        return { data: rows, text: cardTable(rows, widthOf(session.terminal)) };
      }),
    );
  withRef(command.command('show'))
    .description('show a Card and its persona')
    .argument('<agent>')
    .addHelpText('after', showExamples)
    .action((agentId: string, { ref }: RefOption) =>
      run(async (session) => {
        const shown = await showCard(await homeView(session, ref), agentId);
        if (shown.inPlace) session.note(inPlaceNote(shown.inPlace));
        return { data: shown, text: cardPage(shown, session.clock.nowMs()) };
      }),
    );
}

function defineHistory(command: Command, run: Run): void {
  command
    .command('history')
    .description('who changed an agent, newest first')
    .argument('<agent>')
    .option('--limit <n>', 'at most so many commits', parseCount, 20)
    .addHelpText('after', historyExamples)
    .action((agentId: string, { limit }: { limit: number }) =>
      run(async (session) => {
        const revisions = await cardHistory(gitOf(session), agentId, limit);
        return { data: revisions, text: historyTable(revisions, session.clock.nowMs()) };
      }),
    );
  command
    .command('diff')
    .description('what changed between two commits, by agent and field')
    .argument('<from>', 'a commit or branch')
    .argument('[to]', 'a commit or branch', 'HEAD')
    .addHelpText('after', diffExamples)
    .action((from: string, to: string) =>
      run(async (session) => {
        const differences = await diffCards(gitOf(session), from, to);
        return { data: differences, text: differenceLines(differences) };
      }),
    );
}

interface NewOptions {
  readonly runtime: Runtime;
  readonly name?: string;
  readonly description?: string;
}

function defineMaking(command: Command, run: Run): void {
  command
    .command('new')
    .description('write a Card for a new agent, with a key of its own')
    .argument('<agent>', 'its id: lower-case letters, digits and dashes')
    .addOption(
      new Option('--runtime <kind>', 'how it works').choices([...Runtime.options]).default('model'),
    )
    .option('--name <text>', 'its name for people')
    .option('--description <text>', 'what it does, in one or two sentences')
    .addHelpText('after', newExamples)
    .action((id: string, options: NewOptions) =>
      run(async ({ globals }) => {
        const { home, state: stateDir } = requireHome(globals);
        const paths = await newCard({ home, stateDir, id, ...options });
        const git = `git -C ${shellWord(home)}`;
        const words = `Edit, then commit: ${git} add ${paths.join(' ')} && ${git} commit -m "Add ${id}"`;
        return { data: { paths }, text: `Written: ${paths.join(', ')}\n${words}` };
      }),
    );
  command
    .command('key')
    .description("print an agent's public key for its Card; made where this host has none")
    .argument('<agent>')
    .addHelpText('after', keyExamples)
    .action((agentId: string) =>
      run(async (session) => {
        const key = await cardKey(requireHome(session.globals).state, agentId);
        const ids = await cardIds(session);
        if (ids.length > 0 && !ids.includes(agentId)) {
          session.note(`No Card here names ${agentId}.${didYouMean(agentId, ids)}`);
        }
        return { data: key, text: JSON.stringify(key) };
      }),
    );
}

const lintExamples = `
Examples:
  mesh cards lint
  mesh cards lint --ref main --json | jq -r '.problems[].path'

Exit code 1 when there is an error; warnings alone are 0.
`;
const listExamples = `
Examples:
  mesh cards list
  mesh cards list --json | jq -r '.[] | select(.cost == "free-local") | .id'
`;
const showExamples = `
Examples:
  mesh cards show adolf
  mesh cards show adolf --ref HEAD~1 --json | jq .card.needs
`;
const historyExamples = `
Examples:
  mesh cards history adolf
  mesh cards history adolf --limit 3 --json
`;
const diffExamples = `
Examples:
  mesh cards diff HEAD~1
  mesh cards diff v1 main --json | jq -r '.[].agentId'
`;
const newExamples = `
Examples:
  mesh cards new translator --description "Translates between German and English."
  mesh cards new night-report --runtime runner
`;
const keyExamples = `
Examples:
  mesh cards key adolf
  mesh cards key far-away-bot --json     on the host where it runs, for its Card in git
`;

const gitOf = ({ globals }: Session): Git =>
  gitIn({ dir: requireHome(globals).home, environment: loadEnvironment().all });

async function lint(session: Session, ref: string | undefined): Promise<Result> {
  const problems = await lintCards(await homeView(session, ref));
  const errors = problems.filter(isError).length;
  return {
    data: { ok: errors === 0, problems },
    text: problemLines(problems),
    exitCode: errors === 0 ? exitCodes.ok : exitCodes.fault,
  };
}
