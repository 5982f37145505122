import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../bootstrap/say.mjs';
import { prepareA2aLegacy } from './a2a-legacy.mjs';
import { prepareChromium } from './chromium.mjs';
import { prepareKanboard } from './kanboard.mjs';
import { prepareLiteLlm } from './litellm.mjs';
import { findPostgres } from './postgres.mjs';

/** Each answers `{path, version, env?}`, or rejects with the one sentence why it can't be had. */
const services = {
  litellm: prepareLiteLlm,
  chromium: prepareChromium,
  kanboard: prepareKanboard,
  postgres: (folder) => findPostgres(() => prepareKanboard(join(folder, '../kanboard'))),
  'a2a-legacy-0.2': (folder) => prepareA2aLegacy(folder, '0.2'),
  'a2a-legacy-0.3': (folder) => prepareA2aLegacy(folder, '0.3'),
};

/**
 * Installs what the tests run against, pinned, each into its own folder of `.services/`, and writes
 * `.services/services.json`: name → `{available: true, path, version, env?}` or
 * `{available: false, reason}`. A service that can't be had costs one printed line; whether its
 * tests may be skipped is decided where they run (test/support/services/service.ts).
 * @param {string} root
 */
export async function prepareServices(root) {
  const folder = join(root, '.services');
  mkdirSync(folder, { recursive: true });
  const entries = await Promise.all(
    Object.entries(services).map(async ([name, prepare]) => [
      name,
      await outcomeOf(name, () => prepare(join(folder, name))),
    ]),
  );
  const file = join(folder, 'services.json');
  writeFileSync(
    `${file}.${process.pid}`,
    `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`,
  );
  renameSync(`${file}.${process.pid}`, file);
}

async function outcomeOf(name, prepare) {
  try {
    return { available: true, ...(await prepare()) };
  } catch (error) {
    say(`no ${name}: ${error.message}`);
    return { available: false, reason: error.message.split('\n')[0] };
  }
}
