import type { Command } from 'commander';
import type { Run } from '../program.ts';
import { daemonOf, withDaemon, type DaemonOptions } from './up.ts';

const examples = `
Examples:
  mesh keeper
  mesh keeper --board mesh:https://mesh.example.org --log-level warn

It expires leases, watches deadlines and counts queues. Work flows on without it.
`;

export function define(command: Command, run: Run): void {
  withDaemon(command)
    .addHelpText('after', examples)
    .action((options: DaemonOptions) =>
      run(async ({ globals, signal }) => {
        const { runKeeper } = await import('../up.ts');
        await runKeeper({ ...daemonOf(globals), ...options, signal });
        return { data: { stopped: true }, text: '' };
      }),
    );
}
