import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand, runStep } from './run-child.mjs';
import { step } from './say.mjs';
import { installKey, readStamp, writeStamp } from './stamp.mjs';

// All inside node_modules: an `npm ci` that is interrupted, or run by hand, takes them away.
const allStamp = (root) => join(root, 'node_modules/.mesh-install');
const runtimeStamp = (root) => join(root, 'node_modules/.mesh-install-runtime');
const addingMark = (root) => join(root, 'node_modules/.mesh-adding');

const fits = (root, stamp) => readStamp(stamp(root)) === installKey(root);

/** Whether node_modules fits the lock with everything tests, checks and benchmarks need. */
export const hasAllPackages = (root) => fits(root, allStamp);

/** Whether node_modules fits the lock at least with what the mesh itself imports. */
export const hasRuntimePackages = (root) => hasAllPackages(root) || fits(root, runtimeStamp);

/**
 * Installs what the mesh itself imports, a fifth of all packages. A tree with development packages,
 * of whatever age, stays one: a start takes nothing away. Call it in the set-up lock.
 */
export async function installRuntimePackages(root) {
  if (hasRuntimePackages(root)) return;
  if (existsSync(join(root, 'node_modules/typescript'))) return replaceAll(root);
  deleteStamps(root);
  await install(root, 'installing packages', ['ci', '--omit=dev']);
  writeStamp(runtimeStamp(root), installKey(root));
}

/**
 * Installs all packages. Those of a start stay where they are, since a mesh may be running on them,
 * and the rest is added. Call it in the set-up lock.
 */
export async function installAllPackages(root) {
  if (hasAllPackages(root)) return;
  // npm takes a package it had half unpacked for a whole one: what was broken off is made anew.
  if (!fits(root, runtimeStamp) || existsSync(addingMark(root))) return replaceAll(root);
  writeFileSync(addingMark(root), '');
  await install(root, 'adding development packages', ['install', '--no-save', '--include=dev']);
  writeStamp(allStamp(root), installKey(root));
  rmSync(addingMark(root), { force: true });
}

async function replaceAll(root) {
  deleteStamps(root);
  // With NODE_ENV=production npm would leave the development packages out.
  await install(root, 'installing all packages', ['ci', '--include=dev']);
  writeStamp(allStamp(root), installKey(root));
}

function deleteStamps(root) {
  for (const stamp of [allStamp, runtimeStamp]) rmSync(stamp(root), { force: true });
}

async function install(root, label, args) {
  const npm = npmCommand();
  await step(label, () =>
    runStep(npm.file, [...npm.args, ...args, '--no-audit', '--no-fund'], { cwd: root }),
  );
}
