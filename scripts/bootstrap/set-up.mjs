import { join } from 'node:path';
import { build, isBuilt } from './build.mjs';
import {
  hasAllPackages,
  hasRuntimePackages,
  installAllPackages,
  installRuntimePackages,
} from './packages.mjs';
import { withSetupLock } from './setup-lock.mjs';

const lockFolder = (root) => join(root, '.build/setup-lock');

/** Runs `work` alone among all processes that set this clone up. */
export function setUpAlone(root, work) {
  return withSetupLock(lockFolder(root), work);
}

/**
 * Makes the clone able to run the mesh: the packages it imports, and dist. Two at once: one works,
 * the other waits and finds it done.
 */
export async function setUpMesh(root) {
  if (hasRuntimePackages(root) && isBuilt(root)) return;
  await setUpAlone(root, () => bothDone(installRuntimePackages(root), build(root)));
}

/** Makes node_modules fit the lock, with the packages for development. */
export async function setUpPackages(root) {
  if (hasAllPackages(root)) return;
  await setUpAlone(root, () => installAllPackages(root));
}

/** Makes the clone able to run its tests and benchmarks: all packages, and dist. */
export async function setUpDevelopment(root) {
  if (hasAllPackages(root) && isBuilt(root)) return;
  await setUpAlone(root, async () => {
    await installAllPackages(root);
    await build(root);
  });
}

/** The first failure, but not before both have ended: neither may outlive the lock. */
async function bothDone(...works) {
  const results = await Promise.allSettled(works);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}
