import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HomePaths } from '../home.ts';
import type { KanboardAccess } from '../kanboard-access.ts';
import { mirrorPath } from '../kanboard-home.ts';
import type { Session } from '../session.ts';
import type { BackupManifest } from './backup/manifest.ts';
import { loadStamp, saveStamp, stampFile } from './guarded-board.ts';

/** Where the mirror goes that knows what was done before the board was restored. */
export const folderBefore = (mirror: string, atMs: number): string =>
  join(dirname(mirror), `before-${atMs}`);

export interface FrozenHome {
  readonly paths: HomePaths;
  readonly folder: KanboardAccess['folder'];
}

/**
 * Holds all work on a board that is being restored until a person accepts it, whatever its stamp will say. The
 * mirror, which knows more than that board, is kept for that; the next one is made from the board.
 * @returns where the mirror is, if there was one
 */
export async function freeze(
  { paths, folder }: FrozenHome,
  { createdAt, stamp: backedUp }: Pick<BackupManifest, 'createdAt' | 'stamp'>,
  { clock, random }: Pick<Session, 'clock' | 'random'>,
): Promise<string | undefined> {
  const file = stampFile(paths, { folder });
  const known = await loadStamp(file, random);
  // A home that was made anew goes on with the stamp of the lost one.
  const memory = known.stamp === 0 && backedUp ? { ...known, ...backedUp } : known;
  const nowMs = clock.nowMs();
  const atMs = memory.restored?.atMs ?? nowMs;
  const mirror = mirrorPath(paths, { folder });
  const wasThere = existsSync(mirror);
  // Restored once more before it was accepted: the first mirror is the one that knows.
  const before = existsSync(folderBefore(mirror, atMs)) ? nowMs : atMs;
  await setAside(mirror, folderBefore(mirror, before));
  const boardStamp = backedUp?.home === memory.home ? backedUp.stamp : 0;
  const restored = { atMs, boardStamp, boardAtMs: Date.parse(createdAt) };
  await saveStamp(file, { ...memory, restored });
  return wasThere ? folderBefore(mirror, before) : undefined;
}

/** The folder is made also for a mirror that is not there: then nothing is known of before. */
export async function setAside(mirror: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const end of ['', '-wal', '-shm']) {
    const moving = rename(`${mirror}${end}`, join(folder, `mirror.db${end}`));
    await moving.catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    });
  }
}
