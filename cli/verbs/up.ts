import { InvalidArgumentError, Option, type Command } from 'commander';
import { isBoardName } from '../board-choice.ts';
import type { GlobalOptions, Run } from '../session.ts';
import type { DaemonOptions } from '../up.ts';

const examples = `
Examples:
  mesh up                                    a home in ./.mesh is made on first use
  mesh up --port 4800 --ports                also every agent on a port of its own
  mesh up --board kanboard:https://board.example.org
  mesh up --board mesh:https://mesh.example.org

It runs until Ctrl-C: runs are told to stop and are handed back, nothing is lost.
`;

/** What the daemons take from the command line beside the global options. */
export type DaemonFlags = Pick<DaemonOptions, 'host' | 'port' | 'board' | 'logLevel'>;

interface UpFlags extends DaemonFlags {
  readonly ports?: true;
}

export function define(command: Command, run: Run): void {
  withDaemon(command)
    .option('--ports', 'also serve each agent on a port of its own')
    .addHelpText('after', examples)
    .action((flags: UpFlags) =>
      run(async ({ globals, signal }) => {
        const { up } = await import('../up.ts');
        await up({ ...daemonOf(globals), ...flags, signal });
        return { data: { stopped: true }, text: '', silent: true };
      }),
    );
}

const levels = ['debug', 'info', 'warn', 'error', 'silent'];

/** Address, board and log of the verbs that go on running. */
export const withDaemon = (command: Command, port = 'mesh.yaml, else 4700'): Command =>
  command
    .option('--host <address>', 'listen on (default: mesh.yaml, else 127.0.0.1)')
    .option('--port <n>', `listen on (default: ${port})`, parsePort)
    .option(
      '--board <where>',
      '`embedded`, `kanboard:<url>`, `kanboard` of its own, or `mesh:<url>` of another mesh (default: mesh.yaml, else embedded)',
      parseBoard,
    )
    .addOption(
      new Option(
        '--log-level <level>',
        'least level of the log on stderr (default: MESH_LOG_LEVEL, else warn)',
      ).choices(levels),
    );

function parsePort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 (any free one) to 65535.');
}

function parseBoard(text: string): string {
  if (isBoardName(text)) return text;
  throw new InvalidArgumentError(
    'A board is `embedded`, `kanboard`, or `kanboard:` or `mesh:` and an http(s) address.',
  );
}

/** What of the global options a daemon wants. */
export const daemonOf = ({ home, url, token, json, quiet }: GlobalOptions) => ({
  ...(home === undefined ? {} : { home }),
  ...(url === undefined ? {} : { url }),
  ...(token === undefined ? {} : { token }),
  ...(json === undefined ? {} : { json }),
  ...(quiet === undefined ? {} : { quiet }),
});
