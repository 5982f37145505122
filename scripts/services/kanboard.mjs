import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runStep } from '../bootstrap/run-child.mjs';
import { installOnce } from './pinned.mjs';
import { hasPostgres } from './postgres.mjs';
import { ServiceUnavailable } from './service-unavailable.mjs';

const script = join(
  dirname(fileURLToPath(import.meta.url)),
  '../../deploy/kanboard/kanboard-dev.sh',
);
const debianTools = ['apt-get', 'dpkg'];
const installTimeoutMs = 10 * 60_000;

let prepared;

/**
 * A real Kanboard with its PHP, nginx and pgbouncer, unpacked from Debian packages, and a PostgreSQL
 * where the machine has none; `path` is the KANBOARD_DEV_HOME of deploy/kanboard/kanboard-dev.sh. Once a
 * process: the search for PostgreSQL waits for the same one.
 */
export function prepareKanboard(folder) {
  return (prepared ??= prepare(folder));
}

async function prepare(folder) {
  const missing = debianTools.filter((tool) => !existsSync(`/usr/bin/${tool}`));
  if (missing.length > 0) {
    throw new ServiceUnavailable(
      `the test Kanboard is unpacked from Debian packages, and there is no ${missing.join(' and no ')} here.`,
    );
  }
  const args = ['install', ...(hasPostgres() ? [] : ['--postgres'])];
  // What it unpacks follows from the script and the machine's release; Debian's keyring stands for the
  // packages.
  const pin = `${readFileSync(script, 'utf8')} ${args.join(' ')}`;
  await installOnce(folder, pin, 'installing Kanboard (40 Debian packages, 55 MB)', () =>
    install(folder, args),
  );
  const version = /^KANBOARD_VERSION=(.*)$/m.exec(readFileSync(join(folder, 'env'), 'utf8'));
  return { path: folder, version: version?.[1] ?? 'unknown' };
}

async function install(folder, args) {
  const logFile = join(folder, 'install.log');
  const options = { cwd: folder, logFile, timeoutMs: installTimeoutMs };
  try {
    await runStep('bash', [script, ...args], { ...options, env: { KANBOARD_DEV_HOME: folder } });
  } catch (cause) {
    const [said] = readFileSync(logFile, 'utf8').match(/(?<=^kanboard-dev: error: ).+/m) ?? [];
    if (said === undefined) throw cause;
    throw new ServiceUnavailable(`${said} (${logFile})`, { cause });
  }
}
