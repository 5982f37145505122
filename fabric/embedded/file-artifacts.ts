import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BoardUnavailableError, InvalidValueError, reasonOf } from '../domain/errors.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

const Digest = /^[0-9a-f]{64}$/;

/**
 * ArtifactStore in a folder: `<first two digits>/<sha256>`, mode 0600. A file has its name only when
 * its bytes are on the disk, and is checked at every `get`.
 */
export function fileArtifacts({ folder }: { readonly folder: string }): ArtifactStore {
  let parts = 0;
  const pathOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256);
  return {
    async put(content) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      const sha256 = digestOf(bytes);
      const path = pathOf(sha256);
      // A file whose bytes went bad is written anew by whoever has the right ones.
      const stored = await bytesAt(path);
      if (stored && digestOf(stored) === sha256) return sha256;
      const part = `${path}.${process.pid}-${++parts}.part`;
      try {
        await store(bytes, part, path);
      } catch (cause) {
        await rm(part, { force: true });
        throw new BoardUnavailableError(
          `An artifact of ${bytes.byteLength} bytes was not stored: ${reasonOf(cause)}. ` +
            'Free some space, or check that the folder of artifacts may be written.',
          { cause },
        );
      }
      return sha256;
    },

    async get(sha256) {
      if (!Digest.test(sha256)) {
        throw new InvalidValueError('An artifact is named by 64 lower-case hex digits.', 'sha256');
      }
      const bytes = await bytesAt(pathOf(sha256));
      if (bytes === undefined || digestOf(bytes) === sha256) return bytes;
      throw new BoardUnavailableError(
        `The artifact ${sha256} has other bytes than its name says. ` +
          'Restore its file from a backup, or let its run be made again.',
      );
    },
  };
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function bytesAt(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new BoardUnavailableError(
      `An artifact cannot be read: ${reasonOf(cause)}. Check the disk and the owner of the file.`,
      { cause },
    );
  }
}

/** The name is durable too: its folder is synced after the rename, and a new folder's own name before. */
async function store(bytes: Uint8Array, part: string, path: string): Promise<void> {
  const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (made !== undefined) await syncFolder(dirname(made));
  const file = await open(part, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
  await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
