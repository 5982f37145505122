import type { Command } from 'commander';
import { counted } from '../../fabric/domain/counted.ts';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import type { Accepted } from '../board/accept-restore.ts';
import { foreignRestore } from '../board/backup/foreign-words.ts';
import type { RestoredBackup } from '../board/backup/restore-backup.ts';
import { closingAfter } from '../closers.ts';
import type { Result, Run, Session } from '../session.ts';
import { columns } from '../text/columns.ts';
import { oneLine } from '../text/printable.ts';
import { withBoard } from './board-option.ts';

const examples = `
Examples:
  mesh board restore ~/mesh.tar.gz --dry-run  only says what it would do
  mesh board restore ~/mesh.tar.gz            with \`mesh up\` stopped; what is there now is kept beside it
  mesh board restore --accept                 then; with \`mesh up\` stopped
  mesh board restore --accept --json | jq '.held, .lost'

A mesh whose board was restored from a backup takes nothing from it until you have accepted it. What may have gone
further than the board knows is held: with \`mesh task resume\` it begins again, or \`mesh cancel\` ends it.
`;

interface RestoreFlags {
  readonly board?: string;
  readonly accept?: true;
  readonly dryRun?: true;
}

export function defineRestore(command: Command, run: Run): void {
  withBoard(command.command('restore'))
    .description('put a backup of the board in place, or go on with a board that was restored')
    .argument('[file.tar.gz]', 'what `mesh board backup` wrote')
    .option('--accept', 'hold what may have gone further, and work on the rest')
    .option('--dry-run', 'with a file: change nothing')
    .addHelpText('after', examples)
    .action((file: string | undefined, flags: RestoreFlags) =>
      run((session) => {
        if (file !== undefined && !flags.accept) return putInPlace(session, file, flags);
        if (file === undefined && flags.accept && !flags.dryRun) return accept(session, flags);
        throw new InvalidValueError(
          'Give the file of a backup (with or without --dry-run), or --accept and no file.',
          'file',
        );
      }),
    );
}

async function accept(session: Session, { board }: RestoreFlags): Promise<Result> {
  const { acceptRestore } = await import('../board/accept-restore.ts');
  const accepted = await closingAfter((closers) => acceptRestore(session, board, closers));
  return { data: accepted, text: acceptedText(accepted) };
}

async function putInPlace(session: Session, file: string, flags: RestoreFlags): Promise<Result> {
  const { restoreBackup } = await import('../board/backup/restore-backup.ts');
  session.onInterrupt('Nothing was changed.');
  const done = await closingAfter((closers) => restoreBackup(session, file, flags, closers));
  return { data: done, text: restoredText(done) };
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

function restoredText(done: RestoredBackup): string {
  const { manifest, isDry, hasBoard, filled, git, dataBefore, mirrorBefore } = done;
  const { createdAt, board } = manifest;
  const would = isDry ? 'would be' : 'is';
  return [
    hasBoard
      ? `The board ${would} as it was at ${createdAt}.`
      : `The board itself is not in this backup of ${createdAt}; all work on it ${would} held.`,
    ...(dataBefore === undefined ? [] : [`Its data from before: ${dataBefore}`]),
    ...(mirrorBefore === undefined ? [] : [`What this home knew of it before: ${mirrorBefore}`]),
    ...(filled.length === 0 ? [] : [filledText(filled, would)]),
    ...commitWords(manifest.git, git),
    ...(hasBoard ? [] : ['', foreignRestore(board.url)]),
    '',
    isDry
      ? 'Nothing was changed.'
      : 'Nothing is taken from the board until you have run: mesh board restore --accept',
  ].join('\n');
}

const shownFiles = 10;

function filledText(filled: readonly string[], would: string): string {
  const shown = filled.slice(0, shownFiles).map((path) => `  ${oneLine(path)}`);
  const more = filled.length > shownFiles ? [`  and ${filled.length - shownFiles} more`] : [];
  const head = `What this home lacks ${would} put there from the backup; what it has stays:`;
  return [head, ...shown, ...more].join('\n');
}

function commitWords(then: RestoredBackup['git'], now: RestoredBackup['git']): string[] {
  if (then === undefined || then.head === now?.head) return [];
  return [
    `mesh.yaml and the Cards are as they are now; at the backup the home was at commit ${oneLine(then.head, 40)}.`,
  ];
}
