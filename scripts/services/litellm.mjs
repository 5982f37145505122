import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outputOf, runStep } from '../bootstrap/run-child.mjs';
import { installOnce } from './pinned.mjs';
import { ServiceUnavailable } from './service-unavailable.mjs';

const lockFile = join(dirname(fileURLToPath(import.meta.url)), 'litellm.lock.txt');
/** What the hashes in the lock are for. */
const hashedMachine = 'cp311 linux x64';
const installTimeoutMs = 15 * 60_000;

/** A real LiteLLM proxy in a virtual environment of its own; `path` is that environment's Python. */
export async function prepareLiteLlm(folder) {
  const lock = readFileSync(lockFile, 'utf8');
  const said = await outputOf('python3', [
    '-c',
    'import sys; print("%d.%d" % sys.version_info[:2], sys.executable)',
  ]);
  const [, major, minor] = said?.match(/^(\d+)\.(\d+) /) ?? [];
  if (said === undefined)
    throw new ServiceUnavailable('no python3 on the PATH. Install Python 3.10 or newer.');
  if (Number(major) !== 3 || Number(minor) < 10) {
    throw new ServiceUnavailable(
      `LiteLLM needs Python 3.10 or newer, and python3 is ${major}.${minor}.`,
    );
  }
  const python = join(folder, 'venv/bin/python');
  const machine = `cp${major}${minor} ${process.platform} ${process.arch}`;
  await installOnce(
    folder,
    `${lock} ${said}`,
    'installing LiteLLM (116 Python packages, 600 MB)',
    () => install(folder, python, lock, machine === hashedMachine),
  );
  return { path: python, version: lock.match(/^litellm==(\S+)/m)?.[1] ?? 'unknown' };
}

async function install(folder, python, lock, withHashes) {
  const options = {
    cwd: folder,
    logFile: join(folder, 'install.log'),
    timeoutMs: installTimeoutMs,
  };
  const pip = await virtualEnvironment(folder, python, options);
  const wanted = join(folder, 'requirements.txt');
  writeFileSync(wanted, withHashes ? lock : lock.replaceAll(/ --hash=\S+/g, ''));
  const exactly = ['--no-deps', '--only-binary', ':all:', '--no-compile', '--no-input', '--quiet'];
  if (withHashes) exactly.push('--require-hashes');
  await runStep(pip[0], [...pip.slice(1), 'install', ...exactly, '-r', wanted], options);
  // Shows that it works at all, and leaves the bytecode that halves the first start of a test.
  await runStep(python, ['-c', 'import litellm.proxy.proxy_server'], {
    ...options,
    env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_MODE: 'PRODUCTION' },
  });
}

/**
 * Makes the environment and answers with the pip that installs into it. Debian's python3 without
 * python3-venv has no ensurepip: then its own pip works on an environment without one.
 */
async function virtualEnvironment(folder, python, options) {
  const venv = join(folder, 'venv');
  const hasEnsurePip = (await outputOf('python3', ['-c', 'import ensurepip'])) !== undefined;
  if (hasEnsurePip) {
    await runStep('python3', ['-m', 'venv', venv], options);
    return [python, '-m', 'pip'];
  }
  if ((await outputOf('python3', ['-m', 'pip', '--version'])) === undefined) {
    throw new ServiceUnavailable(
      'python3 has neither ensurepip nor pip (Debian: apt-get install python3-venv).',
    );
  }
  await runStep('python3', ['-m', 'venv', '--without-pip', venv], options);
  return ['python3', '-m', 'pip', '--python', python];
}
