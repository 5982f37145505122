import { readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { sourceFiles } from './stamp.mjs';

const outputName = /\.(?:d\.ts|js)(?:\.map)?$/;

/**
 * Deletes what an earlier build made from sources that are gone: tsc leaves it, and a deleted test
 * double or a moved module would go on being imported.
 * @param {string} root
 * @returns {string[]} the deleted files, relative to dist
 */
export function deleteStaleOutputs(root) {
  const dist = join(root, 'dist');
  const wanted = new Set(sourceFiles(root).map((name) => name.replace(/\.tsx?$/, '')));
  const deleted = [];
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dist.length + 1).replaceAll('\\', '/');
    if (!entry.isFile() || !outputName.test(name) || wanted.has(name.replace(outputName, '')))
      continue;
    rmSync(path);
    deleted.push(name);
  }
  if (deleted.length > 0) deleteEmptyFolders(dist);
  return deleted;
}

function deleteEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    deleteEmptyFolders(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}
