import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { daemonOf, withDaemon, type DaemonFlags } from './up.ts';

const examples = `
Examples:
  mesh serve adolf --board mesh:https://mesh.example.org
  mesh serve link-checker --port 4711

One agent on its own port, for a container or another host. Its work comes from the board.
`;

export function define(command: Command, run: Run): void {
  withDaemon(
    command.argument('<agent>', 'an agent id of the home'),
    'its Card, else the first free one from 4701',
  )
    .addHelpText('after', examples)
    .action((agentId: string, flags: DaemonFlags) =>
      run(async ({ globals, signal }) => {
        const { serve } = await import('../up.ts');
        await serve({ ...daemonOf(globals), ...flags, agentId, signal });
        return { data: { stopped: true }, text: '', silent: true };
      }),
    );
}
