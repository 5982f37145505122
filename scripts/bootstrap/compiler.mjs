import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAllPackages } from './packages.mjs';
import { npmCommand, runStep } from './run-child.mjs';
import { step } from './say.mjs';
import { SetupError } from './setup-error.mjs';
import { readStamp, writeStamp } from './stamp.mjs';

/**
 * The lock of a package that needs the compiler and nothing else. It is cut from the root's lock,
 * so that the version and the hash stand in one place only.
 * @param {string} root
 * @returns {{name: string, packages: Record<string, object>}} content of a package-lock.json
 * @throws {SetupError} where the root's lock holds no compiler
 */
export function compilerLock(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const entry = { ...lock.packages['node_modules/typescript'] };
  delete entry.dev;
  if (entry.version === undefined || entry.integrity === undefined) {
    throw new SetupError(
      'package-lock.json holds no version and hash of typescript. Restore it from git.',
    );
  }
  const name = 'mesh-compiler';
  const own = { name, dependencies: { typescript: entry.version } };
  return {
    name,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: { '': own, 'node_modules/typescript': entry },
  };
}

/**
 * The folder of the compiler: of the whole tree where that is installed, else one of its own, which
 * is installed first. Call it in the set-up lock.
 * @param {string} root
 * @returns {Promise<string>}
 */
export async function installCompiler(root) {
  if (hasAllPackages(root)) return join(root, 'node_modules/typescript');
  const folder = join(root, '.build/compiler');
  const lock = compilerLock(root);
  const text = JSON.stringify(lock, null, 2);
  const stamp = join(folder, 'node_modules/.mesh-install');
  const key = createHash('sha256').update(text).digest('hex');
  if (readStamp(stamp) !== key) {
    mkdirSync(folder, { recursive: true });
    rmSync(stamp, { force: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify(lock.packages[''], null, 2));
    writeFileSync(join(folder, 'package-lock.json'), text);
    copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'));
    const npm = npmCommand();
    const ci = [...npm.args, 'ci', '--no-audit', '--no-fund'];
    await step('installing the compiler', () => runStep(npm.file, ci, { cwd: folder }));
    writeStamp(stamp, key);
  }
  return join(folder, 'node_modules/typescript');
}
