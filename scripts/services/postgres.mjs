import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf } from '../bootstrap/run-child.mjs';
import { ServiceUnavailable } from './service-unavailable.mjs';

const debianFolder = '/usr/lib/postgresql';

/**
 * The machine's own PostgreSQL, for the benchmark's peers: `path` is the folder of its programs.
 * Debian keeps one folder a major version; the newest wins.
 */
export async function findPostgres() {
  const majors = existsSync(debianFolder)
    ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
    : [];
  const path = majors
    .map((major) => join(debianFolder, major, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
  if (path === undefined) {
    throw new ServiceUnavailable(
      'no PostgreSQL server below /usr/lib/postgresql (Debian: apt-get install postgresql).',
    );
  }
  const said = await outputOf(join(path, 'postgres'), ['--version']);
  return { path, version: said?.match(/\d+(?:\.\d+)*/)?.[0] ?? 'unknown' };
}
