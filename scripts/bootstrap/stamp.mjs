import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The source folders that are built; `include` of tsconfig.build.json. */
export const sourceFolders = ['fabric', 'cards', 'router', 'agents', 'keeper', 'cli'];

const sourceName = /(?<!\.d)\.tsx?$/;

/** Every source file below the root, as paths relative to it with `/`, sorted. */
export function sourceFiles(root) {
  const found = [];
  for (const folder of sourceFolders) {
    for (const entry of list(join(root, folder))) {
      if (sourceName.test(entry)) found.push(`${folder}/${entry}`);
    }
  }
  return found.sort();
}

function list(folder) {
  try {
    return readdirSync(folder, { recursive: true }).map((name) => name.replaceAll('\\', '/'));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** What decides whether node_modules fits (all of it or the part for running): lock, manifest, npm settings, platform and Node's major. */
export function installKey(root) {
  const hash = createHash('sha256');
  for (const name of ['package-lock.json', 'package.json', '.npmrc']) {
    hash
      .update(`${name}\n`)
      .update(readFileSync(join(root, name)))
      .update('\n');
  }
  const major = process.versions.node.split('.')[0];
  return hash.update(`${process.platform} ${process.arch} ${major}`).digest('hex');
}

/**
 * What decides whether dist fits: a first line for the settings, the compiler and the way it is run,
 * then name, size and mtime of each source. About 20 ms for 200 files.
 */
export function buildRecord(root) {
  const hash = createHash('sha256');
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
  for (const name of [...settings, 'scripts/bootstrap/compile.mjs']) {
    hash
      .update(`${name}\n`)
      .update(readFileSync(join(root, name)))
      .update('\n');
  }
  const lines = sourceFiles(root).map((name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    return `${name} ${size} ${mtimeMs}`;
  });
  return [hash.digest('hex'), ...lines].join('\n');
}

/** The sources that are new or changed between two records; all where the settings have changed. */
export function changedSources(before, now) {
  const [settings, ...lines] = now.split('\n');
  const [settingsBefore, ...linesBefore] = before.split('\n');
  const same = new Set(settings === settingsBefore ? linesBefore : []);
  return lines.filter((line) => !same.has(line)).map((line) => line.replace(/ \S+ \S+$/, ''));
}

/** The key that was written last, or '' where none is. */
export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  }
}

/** Written by rename, so that a stamp is whole or absent. */
export function writeStamp(file, key) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${key}\n`);
  renameSync(draft, file);
}
