import { copyFileSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCommand, runStep } from '../bootstrap/run-child.mjs';
import { installOnce } from './pinned.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/**
 * An earlier generation of the A2A SDK, by its own lock, as a client that we must go on serving.
 * `path` is the folder its packages are resolved from.
 */
export async function prepareA2aLegacy(folder, generation) {
  const pins = join(here, `a2a-legacy-${generation}`);
  const lock = readFileSync(join(pins, 'package-lock.json'), 'utf8');
  const version = JSON.parse(lock).packages['node_modules/@a2a-js/sdk'].version;
  await installOnce(folder, lock, `installing the A2A SDK ${version}`, async () => {
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(join(pins, name), join(folder, name));
    const npm = npmCommand();
    const ci = [
      ...npm.args,
      'ci',
      '--ignore-scripts',
      '--legacy-peer-deps',
      '--no-audit',
      '--no-fund',
      '--silent',
    ];
    await runStep(npm.file, ci, { cwd: folder, logFile: join(folder, 'install.log') });
  });
  return { path: folder, version };
}
