import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf } from '../bootstrap/run-child.mjs';
import { ServiceUnavailable } from './service-unavailable.mjs';

/** Debian keeps one folder a major version here. */
const debianFolder = '/usr/lib/postgresql';

export const hasPostgres = () => newestIn(debianFolder) !== undefined;

/**
 * The machine's own PostgreSQL, else the one that was unpacked with Kanboard: `path` is the folder of
 * its programs.
 * @param {() => Promise<{path: string}>} kanboard
 */
export async function findPostgres(kanboard) {
  const own = newestIn(debianFolder);
  if (own !== undefined) return { path: own, version: await versionOf(own, {}) };
  const root = join((await kanboard()).path, 'root');
  const unpacked = newestIn(join(root, debianFolder));
  if (unpacked === undefined) {
    throw new ServiceUnavailable(
      'no PostgreSQL server below /usr/lib/postgresql (Debian: apt-get install postgresql).',
    );
  }
  const libraries = readdirSync(join(root, 'usr/lib')).filter((name) =>
    name.endsWith('-linux-gnu'),
  );
  const env = {
    LD_LIBRARY_PATH: libraries.map((name) => join(root, 'usr/lib', name)).join(':'),
  };
  return { path: unpacked, version: await versionOf(unpacked, env), env };
}

function newestIn(folder) {
  const majors = existsSync(folder)
    ? readdirSync(folder).sort((a, b) => Number(b) - Number(a))
    : [];
  return majors
    .map((major) => join(folder, major, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')));
}

async function versionOf(path, env) {
  const said = await outputOf(join(path, 'postgres'), ['--version'], { env });
  return said?.match(/\d+(?:\.\d+)*/)?.[0] ?? 'unknown';
}
