import { InvalidArgumentError, type Command } from 'commander';
import { counted } from '../../fabric/domain/counted.ts';
import type { Accepted } from '../board/accept-restore.ts';
import type { SetupOptions, SetupReport } from '../board/setup.ts';
import { isBoardName } from '../board-choice.ts';
import { closingAfter } from '../closers.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Run } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { columns } from '../text/columns.ts';
import { oneLine } from '../text/printable.ts';

const examples = `
Examples:
  mesh board setup --board kanboard:https://board.example.org
  mesh board setup --dry-run

They look after the Kanboard that the tasks lie on; which one, mesh.yaml says or --board.
`;

const setupExamples = `
Examples:
  mesh board setup                           what is right is left as it is
  mesh board setup --dry-run                 only says what it would do
  mesh board setup --json | jq '.steps[] | select(.verdict != "ok")'

Exit code 1 when the board can't be relied on.
`;

const restoreExamples = `
Examples:
  mesh board restore --accept                with \`mesh up\` stopped
  mesh board restore --accept --json | jq '.held, .lost'

A mesh that finds its board restored from a backup takes nothing from it until this was said. What may have
gone further than the board knows is held: with \`mesh task resume\` it begins again, or \`mesh cancel\` ends it.
`;

export function define(command: Command, run: Run): void {
  command.usage('[options] <verb> …').addHelpText('after', examples);
  defineSetup(command, run);
  command
    .command('restore')
    .description('go on with a board that was restored from a backup')
    .requiredOption('--accept', 'hold what may have gone further, and work on the rest')
    .option('--board <where>', '`kanboard:<url>` or `kanboard` (default: mesh.yaml)', parseBoard)
    .addHelpText('after', restoreExamples)
    .action(({ board }: { board?: string }) =>
      run(async (session) => {
        const { acceptRestore } = await import('../board/accept-restore.ts');
        const accepted = await closingAfter((closers) => acceptRestore(session, board, closers));
        return { data: accepted, text: acceptedText(accepted) };
      }),
    );
}

function acceptedText({ held, lost, mirrorBefore }: Accepted): string {
  const rows = [
    ...held.map(({ taskId, phase, title }) => ['held', taskId, phase, oneLine(title, 60)]),
    ...lost.map(({ taskId, title }) => ['lost', taskId, '', oneLine(title, 60)]),
  ];
  const end =
    `${counted(held.length, 'task')} held for you: \`mesh task resume\`, answer or \`mesh cancel\` each. ` +
    `${counted(lost.length, 'task')} not on the board: submit again what is still wanted.\n` +
    `What this home knew before is in ${mirrorBefore}. Start the mesh again with: mesh up`;
  return rows.length === 0 ? end : `${columns(rows)}\n\n${end}`;
}

function defineSetup(command: Command, run: Run): void {
  command
    .command('setup')
    .description('make projects, columns, users and roles for the Cards, and try the board out')
    .option('--board <where>', '`kanboard:<url>` or `kanboard` (default: mesh.yaml)', parseBoard)
    .option('--dry-run', 'change nothing')
    .addHelpText('after', setupExamples)
    .action((options: SetupOptions) =>
      run(async (session) => {
        const { setUpBoard } = await import('../board/setup.ts');
        const report = await closingAfter((closers) => setUpBoard(session, options, closers));
        const isSick = report.steps.some(({ verdict }) => verdict === 'fail');
        return {
          data: report,
          text: setupText(report, session.terminal),
          exitCode: isSick ? exitCodes.fault : exitCodes.ok,
        };
      }),
    );
}

function parseBoard(text: string): string {
  if (isBoardName(text)) return text;
  throw new InvalidArgumentError('Write `kanboard:` and an http(s) address, or `kanboard`.');
}

const styles = {
  ok: 'green',
  changed: 'bold',
  would: 'bold',
  you: 'yellow',
  warn: 'yellow',
  fail: 'red',
} as const;

function setupText({ steps, changed }: SetupReport, { paint }: Terminal): string {
  const rows = steps.flatMap(({ about, verdict, says, fix }) => [
    [paint(styles[verdict], verdict), about, says],
    ...(fix === undefined ? [] : [['', '', fix]]),
  ]);
  const would = steps.filter(({ verdict }) => verdict === 'would').length;
  const end =
    would > 0
      ? `${would} would be changed.`
      : changed > 0
        ? `${changed} changed.`
        : 'Nothing was changed.';
  return `${columns(rows)}\n\n${end}`;
}
