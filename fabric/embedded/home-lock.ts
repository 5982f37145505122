import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BoardUnavailableError, reasonOf } from '../domain/errors.ts';
import { lockFile } from './os-lock.ts';
import { loadSqlite } from './sqlite-module.ts';

/** Who holds a home, as it wrote itself down; for people and for commands that look for its front. */
export const HomeHolder = z.strictObject({
  pid: z.int().positive(),
  /** The command as typed: `mesh up`. */
  command: z.string().min(1).max(200),
  /** Where its front answers, once it does. */
  url: z.string().max(1_024).optional(),
  /** The gateway it has, which another shell may not name. */
  gatewayUrl: z.string().max(1_024).optional(),
});
export type HomeHolder = z.infer<typeof HomeHolder>;

/** The home is ours until `release`, or until this process dies. */
export interface HomeLock {
  readonly kind: 'locked';
  /** Writes down where we can be reached, for those who find the home locked. */
  describe(holder: HomeHolder): Promise<void>;
  release(): void;
}

/** Somebody else has it; `holder` is absent where it has not written itself down yet. */
export interface HomeHeld {
  readonly kind: 'held';
  readonly holder?: HomeHolder;
}

/**
 * One process a home owns its local database (`DESIGN.md` 3). The lock is the kernel's, so nothing is
 * left behind by a death; the words beside it (`<path>.holder`) count only while the lock is held.
 * @param path the lock file, made where it is missing; nothing else may open it in this process
 * @throws BoardUnavailableError where the file cannot be made or locked at all
 */
export async function lockHome(path: string, holder: HomeHolder): Promise<HomeLock | HomeHeld> {
  const words = `${path}.holder`;
  const sqlite = await loadSqlite();
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const lock = lockFile(sqlite, path, 0);
    if (lock === undefined) return { kind: 'held', ...(await holderIn(words)) };
    const describe = (now: HomeHolder) =>
      writeFile(words, JSON.stringify(HomeHolder.parse(now)), { mode: 0o600 });
    await describe(holder);
    return {
      kind: 'locked',
      describe,
      release: () => {
        lock.release();
      },
    };
  } catch (cause) {
    throw new BoardUnavailableError(
      `The lock of the mesh home, ${path}, cannot be taken: ${reasonOf(cause)}. ` +
        'Check that its folder exists and may be written.',
      { cause },
    );
  }
}

/** A half-written or missing note says nothing; the lock alone decides. */
async function holderIn(words: string): Promise<{ holder?: HomeHolder }> {
  const text = await readFile(words, 'utf8').catch(() => '');
  try {
    return { holder: HomeHolder.parse(JSON.parse(text)) };
  } catch {
    return {};
  }
}
