import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readStamp, writeStamp } from '../bootstrap/stamp.mjs';
import { step } from '../bootstrap/say.mjs';

/**
 * Installs into `folder` once: again only when the pin, the platform or Node's version changes, or
 * an earlier try was cut short. The folder is emptied first.
 * @param {string} folder
 * @param {string} pin everything that decides what is installed
 * @param {string} label for people, with what takes the time
 * @param {() => Promise<void>} install
 */
export async function installOnce(folder, pin, label, install) {
  const key = createHash('sha256')
    .update(`${pin} ${process.platform} ${process.arch} ${process.version}`)
    .digest('hex');
  const stamp = join(folder, '.mesh-install');
  if (readStamp(stamp) === key) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await step(label, install);
  writeStamp(stamp, key);
}
