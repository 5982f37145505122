import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runChecks } from './check.mjs';
import { npmCommand, runForeground, runStep } from './run-child.mjs';
import { say, step } from './say.mjs';
import { setUpAlone, setUpDevelopment, setUpMesh, setUpPackages } from './set-up.mjs';
import { SetupError } from './setup-error.mjs';
import { readStamp, writeStamp } from './stamp.mjs';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const verbs = {
  /** `mesh <args…>` from dist, in this process: no second Node, and signals arrive untouched. */
  async mesh(args) {
    await setUpMesh(root);
    process.argv = [process.execPath, 'mesh', ...args];
    await import(pathToFileURL(join(root, 'dist/cli/main.js')).href);
  },
  vitest: (args) => runTests(args, {}),
  'vitest-full': (args) => runTests(args, { MESH_TEST_FULL: '1' }),
  bench: runBench,
  async check() {
    await setUpPackages(root);
    process.exitCode = await runChecks(root);
  },
};

/**
 * Runs one verb of package.json's scripts. Sets the exit code, and never throws for what a person
 * can put right.
 * @param {readonly string[]} argv the verb, then its arguments
 */
export async function runVerb([verb, ...args]) {
  try {
    if (!Object.hasOwn(verbs, verb ?? '')) {
      throw new SetupError(
        `'${verb ?? ''}' is no verb of this script. Use one of: ${Object.keys(verbs).join(', ')}.`,
      );
    }
    await verbs[verb](args);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

/** Tests of whole daemons start dist, and some talk to real services: both are made first. */
async function runTests(args, env) {
  await setUpDevelopment(root);
  const { prepareServices } = await import('../services/prepare-services.mjs');
  await setUpAlone(root, () => prepareServices(root));
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  process.exitCode = await runForeground(process.execPath, [vitest, 'run', ...args], {
    cwd: root,
    env,
  });
}

/** The peers have a lock of their own: in the root's they would be installed with the mesh itself. */
async function runBench(args) {
  const folder = join(root, 'bench');
  const lock = join(folder, 'package-lock.json');
  if (!existsSync(lock))
    throw new SetupError('bench/package-lock.json is missing. Restore it from git.');
  await setUpDevelopment(root);
  const stamp = join(folder, 'node_modules/.mesh-install');
  const key = createHash('sha256').update(readFileSync(lock)).update(process.version).digest('hex');
  await setUpAlone(root, async () => {
    if (readStamp(stamp) === key) return;
    const npm = npmCommand();
    const ci = [...npm.args, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    await step('installing benchmark peers', () => runStep(npm.file, ci, { cwd: folder }));
    writeStamp(stamp, key);
  });
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs');
  process.exitCode = await runForeground(process.execPath, [tsx, join(folder, 'run.ts'), ...args], {
    cwd: root,
  });
}
