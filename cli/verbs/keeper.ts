import type { Command } from 'commander';
import type { Run } from '../session.ts';
import { daemonOf, withDaemon, type DaemonFlags } from './up.ts';

const examples = `
Examples:
  mesh keeper
  mesh keeper --board mesh:https://mesh.example.org --log-level warn

It expires leases, watches deadlines and counts queues. Work flows on without it.
`;

export function define(command: Command, run: Run): void {
  withDaemon(command)
    .addHelpText('after', examples)
    .action((flags: DaemonFlags) =>
      run(async ({ globals, signal }) => {
        const { runKeeper } = await import('../up.ts');
        await runKeeper({ ...daemonOf(globals), ...flags, signal });
        return { data: { stopped: true }, text: '', silent: true };
      }),
    );
}
