import type { Command } from 'commander';
import { initHome } from '../../cards/registry/init-home.ts';
import { counted } from '../../fabric/domain/counted.ts';
import { loadEnvironment } from '../config.ts';
import { homePaths } from '../home.ts';
import type { Run } from '../session.ts';
import { shellWord } from '../text/shell-word.ts';

const examples = `
Examples:
  mesh init                                  a home in ./.mesh
  mesh init ~/mesh --human alvis             alvis gets the questions

The home is a git repository of yours: settings, Cards, personas. A home that is there is left as it is.
`;

const defaultHuman = 'operator';

export function define(command: Command, run: Run): void {
  command
    .argument('[dir]', 'where (default: --home, MESH_HOME, else ./.mesh)')
    .option('--human <id>', 'the person who runs the mesh', defaultHuman)
    .addHelpText('after', examples)
    .action((dir: string | undefined, { human }: { human: string }) =>
      run(async (session) => {
        const environment = loadEnvironment();
        const { home } = homePaths(dir ?? session.globals.home ?? environment.home);
        session.progress(`making ${home}`);
        session.onInterrupt(
          `Stopped. \`mesh init ${shellWord(home)}\` takes it up where it was cut off.`,
        );
        const made = await initHome({ dir: home, human, environment: environment.all });
        return { data: { home, ...made }, text: initText(home, made) };
      }),
    );
}

function initText(
  home: string,
  { kind, commit, agentIds }: Awaited<ReturnType<typeof initHome>>,
): string {
  const at = commit.slice(0, 12);
  if (kind === 'existing') return `${home} is a mesh home already, at ${at}. Nothing was changed.`;
  return `${home} is a mesh home now, with ${counted(agentIds.length, 'agent')} (commit ${at}): ${agentIds.join(', ')}.\nStart it with: mesh up --home ${shellWord(home)}`;
}
