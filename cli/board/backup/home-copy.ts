import { existsSync } from 'node:fs';
import { constants, copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { HomePaths } from '../../home.ts';
import { mirrorPath } from '../../kanboard-home.ts';
import { stampFile } from '../guarded-board.ts';
import { copyDatabase, withoutTokens } from './database-copy.ts';

export interface HomeCopyOptions {
  readonly paths: HomePaths;
  /** What the home knows of its board. */
  readonly folder: string;
  /** Takes the data of the mesh's own Kanboard. */
  readonly isOwn: boolean;
  readonly hasKeys: boolean;
  readonly progress: (what: string) => void;
  readonly signal: AbortSignal;
}

/** Of `state/`: what is taken by its own rules, what lives with a process, and what is made anew. */
const elsewhere = new Set(['boards', 'kanboard', 'procs', 'beside', 'registry.json']);
const secret = new Set(['keys', 'operator.token']);
/** Locks, halves of databases that are copied whole, files that are being written, a restore under way. */
const passing = /\.lock(\.holder)?$|\.db-(wal|shm|lock)$|\.draft-|^restoring-/u;

/**
 * Copies the state of a home below `to`, under the paths it has in the home, while the mesh works. Databases
 * first: the files that they name are there then, too.
 */
export async function copyHome(to: string, options: HomeCopyOptions): Promise<string[]> {
  const { paths, folder, isOwn, hasKeys, progress, signal } = options;
  const parts: string[] = [];
  const take = async (path: string, copy: (from: string, to: string) => Promise<void>) => {
    signal.throwIfAborted();
    if (!existsSync(path)) return;
    const part = relative(paths.home, path);
    progress(part);
    await mkdir(dirname(join(to, part)), { recursive: true });
    await copy(path, join(to, part));
    parts.push(part);
  };
  const names = await readdir(paths.state);
  const own = names.filter((name) => !elsewhere.has(name) && !passing.test(name));
  const isDatabase = (name: string) => name.endsWith('.db');
  // What the home has left on the board is at most what the board's copy has.
  await take(stampFile(paths, { folder }), copyFile);
  const { ownKanboard } = paths;
  if (isOwn) {
    await take(join(ownKanboard, 'data/db.sqlite'), async (from, copy) => {
      await copyDatabase(from, copy);
      if (!hasKeys) await withoutTokens(copy);
    });
    await take(join(ownKanboard, 'data/files'), copyTree);
    await take(join(ownKanboard, 'data/plugins'), copyTree);
  }
  await take(mirrorPath(paths, { folder }), copyDatabase);
  for (const name of own.filter(isDatabase)) await take(join(paths.state, name), copyDatabase);
  for (const name of own) {
    if (isDatabase(name) || (secret.has(name) && !hasKeys)) continue;
    await take(join(paths.state, name), copyTree);
  }
  if (isOwn && hasKeys) {
    for (const file of ['api.token', 'data/admin.password']) {
      await take(join(ownKanboard, file), copyFile);
    }
  }
  return parts;
}

/** A file or a folder with all that is in it; what goes away meanwhile is left out. */
async function copyTree(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (entries === undefined) {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return;
  }
  await mkdir(to, { recursive: true });
  for (const entry of entries) {
    if (passing.test(entry.name) || !(entry.isFile() || entry.isDirectory())) continue;
    await copyTree(join(from, entry.name), join(to, entry.name)).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
