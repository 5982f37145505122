import type { Command } from 'commander';
import type { BackedUp } from '../board/backup/back-up.ts';
import { foreignDump } from '../board/backup/foreign-words.ts';
import { closingAfter } from '../closers.ts';
import type { Run } from '../session.ts';
import { withBoard } from './board-option.ts';

const examples = `
Examples:
  mesh board backup ~/mesh-$(date +%F).tar.gz             while \`mesh up\` runs, or not
  mesh board backup ~/mesh.tar.gz --with-keys             all that another machine needs; keep it like a vault
  mesh board backup ~/mesh.tar.gz --json | jq .manifest

mesh.yaml, Cards and personas are in the home's git and not in the backup: push that somewhere, too.
`;

export function defineBackup(command: Command, run: Run): void {
  withBoard(command.command('backup'))
    .description('board and state of the mesh in one file, while it works')
    .argument('<file.tar.gz>', 'a new file; readable by you only')
    .option('--with-keys', 'also keys, mesh.secret, your token and the passwords of the board')
    .addHelpText('after', examples)
    .action((file: string, options: { board?: string; withKeys?: true }) =>
      run(async (session) => {
        const { backUp } = await import('../board/backup/back-up.ts');
        session.onInterrupt('Nothing was written.');
        const done = await closingAfter((closers) => backUp(session, file, options, closers));
        if (options.withKeys) {
          session.note(`${done.file} holds the keys of the mesh: whoever reads it is the mesh.`);
        }
        return { data: done, text: backupText(done) };
      }),
    );
}

function backupText({ file, bytes, hasBoard, manifest }: BackedUp): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  const { git, hasKeys, board } = manifest;
  const commit = git ? ` (commit ${git.head.slice(0, 12)})` : '';
  const changed = git?.isClean === false ? ' There are changes that are not committed.' : '';
  return [
    hasBoard
      ? `${file}: the board and the state of the mesh (${size}).`
      : `${file}: the state of the mesh (${size}), WITHOUT the board.`,
    `Not in it: mesh.yaml, Cards and personas, which are in the home's git${commit}.${changed}`,
    ...(hasKeys ? [] : ['Not in it: keys and mesh.secret. Keep them, or take --with-keys.']),
    ...(hasBoard ? [] : ['', foreignDump(board.url)]),
  ].join('\n');
}
