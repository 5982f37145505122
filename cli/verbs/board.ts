import type { Command } from 'commander';
import type { SetupOptions, SetupReport } from '../board/setup.ts';
import { closingAfter } from '../closers.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Run } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { columns } from '../text/columns.ts';
import { defineBackup } from './board-backup.ts';
import { withBoard } from './board-option.ts';
import { defineRestore } from './board-restore.ts';

const examples = `
Examples:
  mesh board setup --board kanboard:https://board.example.org
  mesh board setup --dry-run
  mesh board backup ~/mesh.tar.gz
  mesh board restore ~/mesh.tar.gz
  mesh board restore --accept

They look after the Kanboard that the tasks lie on; which one, mesh.yaml says or --board.
`;

const setupExamples = `
Examples:
  mesh board setup                           what is right is left as it is
  mesh board setup --dry-run                 only says what it would do
  mesh board setup --json | jq '.steps[] | select(.verdict != "ok")'

Exit code 1 when the board can't be relied on.
`;

export function define(command: Command, run: Run): void {
  command.usage('[options] <verb> …').addHelpText('after', examples);
  defineSetup(command, run);
  defineBackup(command, run);
  defineRestore(command, run);
}

function defineSetup(command: Command, run: Run): void {
  withBoard(command.command('setup'))
    .description('make projects, columns, users and roles for the Cards, and try the board out')
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
