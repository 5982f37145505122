import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runForeground } from './run-child.mjs';
import { say, seconds } from './say.mjs';

const programs = [
  ['tsc', 'typescript/bin/tsc', ['-p', 'tsconfig.json']],
  ['eslint', 'eslint/bin/eslint.js', ['.']],
  ['prettier', 'prettier/bin/prettier.cjs', ['--check', '--log-level', 'warn', '.']],
  ['knip', 'knip/bin/knip.js', ['--no-progress']],
];

/**
 * Runs every check, also after one has failed, and ends with one line a check.
 * @param {string} root
 * @returns {Promise<number>} 0 where all passed, else 1
 */
export async function runChecks(root) {
  const results = [];
  for (const [name, file, args] of programs) {
    say(`check ${name} …`);
    const startedMs = performance.now();
    const path = join(root, 'node_modules', file);
    const code = await runForeground(process.execPath, [path, ...args], { cwd: root });
    results.push({ name, ok: code === 0, took: seconds(performance.now() - startedMs) });
  }
  results.push(checkLock(root));
  for (const { name, ok, took } of results) say(`check ${name}: ${ok ? 'ok' : 'FAILED'} (${took})`);
  return results.every(({ ok }) => ok) ? 0 : 1;
}

/** A lock with addresses in it installs only where those addresses are reached. */
function checkLock(root) {
  const locks = ['package-lock.json', 'bench/package-lock.json'];
  const bad = locks.filter((name) => readIfThere(join(root, name)).includes('"resolved"'));
  for (const name of bad)
    say(`${name} names a registry ("resolved"). Make it again with the .npmrc of this repository.`);
  return { name: 'lock', ok: bad.length === 0, took: seconds(0) };
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}
