import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { HomePaths } from '../../home.ts';

/**
 * Puts the Kanboard data of an unpacked backup in place. What was there lies beside it afterwards; its port and
 * what the backup lacks go on.
 * @returns where that is, if anything was
 */
export async function replaceData(
  { ownKanboard }: HomePaths,
  content: string,
  nowMs: number,
): Promise<string | undefined> {
  const data = join(ownKanboard, 'data');
  const next = join(content, 'state/kanboard/data');
  await mkdir(ownKanboard, { recursive: true, mode: 0o700 });
  for (const kept of ['port', 'admin.password', 'plugins']) {
    const [from, to] = [join(data, kept), join(next, kept)];
    if (existsSync(from) && !existsSync(to)) await cp(from, to, { recursive: true });
  }
  const before = `${data}.before-restore-${stampedName(nowMs)}`;
  const isThere = existsSync(data);
  if (isThere) await rename(data, before);
  await rename(next, data);
  return isThere ? before : undefined;
}

/** `20260102T030405678Z` */
const stampedName = (ms: number): string => new Date(ms).toISOString().replace(/[-:.]/gu, '');

/** Files of an unpacked backup that the home does not have, as paths below the home. */
export async function missingIn(
  { home, state }: HomePaths,
  content: string,
): Promise<readonly string[]> {
  const from = join(content, 'state');
  if (!existsSync(from)) return [];
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    .filter((path) => !isOfBoard.test(path) && !existsSync(join(state, path)))
    .map((path) => relative(home, join(state, path)))
    .sort();
}

/** What is put in place as a whole, and what is made anew from the board. */
const isOfBoard = /^(kanboard\/data|boards)\//u;

/**
 * Gives the home what it lacks. What it has stays: it knows of quotas spent, tokens revoked and results made since
 * the backup, which the world has not forgotten either.
 */
export async function putBack(paths: HomePaths, content: string): Promise<readonly string[]> {
  const missing = await missingIn(paths, content);
  for (const path of missing) {
    const to = join(paths.home, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(join(content, path), to);
  }
  return missing;
}
