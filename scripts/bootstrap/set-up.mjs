import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand, runStep } from './run-child.mjs';
import { say, step } from './say.mjs';
import { SetupError } from './setup-error.mjs';
import { withSetupLock } from './setup-lock.mjs';
import { deleteStaleOutputs } from './stale-outputs.mjs';
import { buildKey, installKey, readStamp, writeStamp } from './stamp.mjs';

// Inside node_modules and written last: an interrupted `npm ci` takes it away with the tree.
const installStamp = (root) => join(root, 'node_modules/.mesh-install');
const buildStamp = (root) => join(root, 'dist/.mesh-build');
const lockFolder = (root) => join(root, '.build/setup-lock');

const isInstalled = (root) => readStamp(installStamp(root)) === installKey(root);
const isBuilt = (root) => readStamp(buildStamp(root)) === buildKey(root);

/** Makes node_modules fit the lock. Two at once: one installs, the other waits and finds it done. */
export async function setUpPackages(root) {
  if (isInstalled(root)) return;
  await withSetupLock(lockFolder(root), () => install(root));
}

/** Makes node_modules fit the lock and dist the sources. */
export async function setUpBuild(root) {
  if (isInstalled(root) && isBuilt(root)) return;
  await withSetupLock(lockFolder(root), async () => {
    await install(root);
    await build(root);
  });
}

/** Runs `work` alone among all processes that set this clone up. */
export function setUpAlone(root, work) {
  return withSetupLock(lockFolder(root), work);
}

async function install(root) {
  const key = installKey(root);
  if (readStamp(installStamp(root)) === key) return;
  const npm = npmCommand();
  await step('installing packages', () =>
    // With NODE_ENV=production npm would leave out the compiler, and the build would fail.
    runStep(npm.file, [...npm.args, 'ci', '--include=dev', '--no-audit', '--no-fund'], {
      cwd: root,
    }),
  );
  writeStamp(installStamp(root), key);
}

async function build(root) {
  const key = buildKey(root);
  const stamp = buildStamp(root);
  if (readStamp(stamp) === key) return;
  // Without a stamp nobody knows what is in dist; the compiler's own record would make it skip files.
  if (!existsSync(stamp)) rmSync(join(root, 'dist/.tsbuildinfo'), { force: true });
  rmSync(stamp, { force: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'];
  await step('building dist', () =>
    // Types are `npm run check`'s business: an error in one must not stop a start.
    runStep(process.execPath, [join(root, compiler[0]), ...compiler.slice(1)], { cwd: root }),
  );
  const stale = deleteStaleOutputs(root);
  if (stale.length > 0) say(`deleted ${stale.length} outputs of sources that are gone`);
  if (!existsSync(join(root, 'dist/cli/main.js'))) {
    throw new SetupError(
      'The build made no dist/cli/main.js. Is cli/main.ts there? Delete dist and try again.',
    );
  }
  writeStamp(stamp, key);
}
