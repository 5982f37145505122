import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../cards/registry/package-root.ts';
import type { GlobalOptions, Result, Run, Session } from './session.ts';
import type { Terminal } from './terminal.ts';
import { verbs, type VerbEntry } from './verb-list.ts';

export interface ProgramDeps {
  readonly terminal: Terminal;
  readonly entries?: readonly VerbEntry[];
  readonly runVerb: (
    globals: GlobalOptions,
    work: (session: Session) => Promise<Result>,
  ) => Promise<void>;
}

const helpWidth = 100;
const hints = `
Exit codes: 0 done, 1 a fault, 2 a wrong command line, 3 and more by kind: docs/cli.md.

Examples:
  mesh up                                    run a mesh here, made on first use
  mesh send adolf "Audit the plan in git:plans@HEAD#plan.md"
  mesh inbox                                 what waits for you
`;

/**
 * The command line of `mesh`: every verb by name and summary; a verb's own file is loaded only when
 * it is used. Throws CommanderError in place of ending the process.
 */
export function buildProgram({ terminal, entries = verbs, runVerb }: ProgramDeps): Command {
  const program = new Command('mesh')
    .description('An agent mesh: agents that speak A2A, and a durable board between them.')
    .usage('[options] <verb> …')
    .option('--home <dir>', 'the mesh home (default: MESH_HOME, else ./.mesh)')
    .option('--url <url>', "a running mesh's front (default: MESH_URL, else the home's own)")
    .option('--token <token>', "who you are (default: MESH_TOKEN, else the home's operator token)")
    .option('--json', 'one JSON document on stdout, nothing else')
    .option('--quiet', 'no words beside the result')
    .option('--progress', 'progress lines even without a terminal')
    .option('--no-color', 'no colours')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => write(text.replace(/^error: /u, 'mesh: ')),
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', hints)
    .showHelpAfterError('Add --help to the verb to see what it takes.');
  let verb = '';
  const run: Run = (work) => runVerb({ ...program.opts<GlobalOptions>(), verb }, work);
  for (const { name, summary, group } of entries) {
    const description = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
    program.command(name).summary(summary).description(description).helpGroup(group);
  }
  program.hook('preSubcommand', async (_program, command) => {
    const entry = entries.find(({ name }) => name === command.name());
    verb = command.name();
    const module = await entry?.load();
    module?.define(command.helpCommand(false), run);
  });
  return program;
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}

/** `mesh help <verb>` is `mesh <verb> --help`, and `mesh` alone is `mesh --help`. */
export function withoutHelpVerb(args: readonly string[]): string[] {
  const [first, ...rest] = args;
  if (first === undefined) return ['--help'];
  if (first === 'help') return [...rest, '--help'];
  // Help is no answer to a verb that there is not: without the wish for it, the word is refused.
  const isUnknown = !first.startsWith('-') && !verbs.some(({ name }) => name === first);
  return isUnknown ? args.filter((arg) => arg !== '--help' && arg !== '-h') : [...args];
}
