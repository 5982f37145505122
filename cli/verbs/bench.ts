import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../cards/registry/package-root.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { loadEnvironment } from '../config.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Run } from '../session.ts';

const examples = `
Examples:
  mesh bench
  mesh bench -- sync-hop

It needs a checkout of the repository: an installed package carries no benchmark.
`;

export function define(command: Command, run: Run): void {
  command
    .argument('[args...]', 'passed on to the benchmark')
    .addHelpText('after', examples)
    .action((args: string[]) =>
      run(async (session) => {
        const root = packageRoot();
        const script = join(root, 'scripts', 'mesh-run.mjs');
        if (!existsSync(join(root, 'bench', 'run.ts')) || !existsSync(script)) {
          throw new MeshError(
            'NOT_FOUND',
            'There is no benchmark here: it comes with a checkout of the repository. Clone it and run `npm run bench`.',
            { path: 'bench' },
          );
        }
        session.note('Measuring; this takes some minutes.');
        const code = await runBench(script, args, session.globals.json === true);
        return { data: { exitCode: code }, text: '', exitCode: code };
      }),
    );
}

/** The benchmark's own lines go to our stdout, or beside the one JSON document. */
function runBench(script: string, args: readonly string[], json: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, 'bench', ...args], {
      stdio: ['ignore', json ? process.stderr : 'inherit', 'inherit'],
      env: { ...loadEnvironment().all },
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(code ?? (signal === null ? exitCodes.fault : 128 + constants.signals[signal]));
    });
  });
}
