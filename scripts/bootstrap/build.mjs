import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installCompiler } from './compiler.mjs';
import { runStep } from './run-child.mjs';
import { say, step } from './say.mjs';
import { SetupError } from './setup-error.mjs';
import { deleteStaleOutputs } from './stale-outputs.mjs';
import { buildRecord, changedSources, readStamp, writeStamp } from './stamp.mjs';

const buildStamp = (root) => join(root, 'dist/.mesh-build');

/** Whether dist was built from the sources and settings as they are. */
export const isBuilt = (root) => readStamp(buildStamp(root)) === buildRecord(root);

/**
 * Builds what has changed since the last build, everything where that one did not end well. Needs
 * no package but the compiler, which it installs. Call it in the set-up lock.
 * @param {string} root
 * @throws {SetupError} where a source cannot be parsed
 */
export async function build(root) {
  const record = buildRecord(root);
  const stamp = buildStamp(root);
  const changed = changedSources(readStamp(stamp), record);
  if (readStamp(stamp) === record) return;
  const compiler = await installCompiler(root);
  // Until the stamp is written again nobody knows what is in dist.
  rmSync(stamp, { force: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  const program = join(root, 'scripts/bootstrap/compile.mjs');
  await step('building dist', () =>
    // Types are `npm run check`'s business: an error in one must not stop a start.
    runStep(process.execPath, [program, compiler, root], { cwd: root, input: changed.join('\n') }),
  );
  const stale = deleteStaleOutputs(root);
  if (stale.length > 0) say(`deleted outputs of sources that are gone: ${stale.length}`);
  if (!existsSync(join(root, 'dist/cli/main.js'))) {
    throw new SetupError(
      'The build made no dist/cli/main.js. Is cli/main.ts there? Delete dist and try again.',
    );
  }
  writeStamp(stamp, record);
}
