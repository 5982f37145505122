import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';

/** What a context-ref holds: its text, a note in place of it, or why there is none. */
export type RefText =
  { readonly text: string } | { readonly note: string } | { readonly reason: string };

/**
 * The text of a regular file below one of `roots`, at most `maxBytes`. A symlink may lead anywhere below
 * its own root and nowhere else.
 */
export async function readBelow(
  roots: readonly string[],
  path: string,
  maxBytes: number,
): Promise<RefText> {
  const real = await realPathBelow(roots, path);
  if (real === undefined) {
    return { reason: 'there is no such file below the folders that file: may name' };
  }
  // The path is free of links now; a link put there since is not followed.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const about = await file.stat();
    if (!about.isFile()) return { reason: 'it is no regular file' };
    if (about.size > maxBytes) return { reason: `it has more than ${maxBytes} bytes` };
    const bytes = await file.readFile();
    return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { reason: 'it is not text in UTF-8' };
  } finally {
    await file.close();
  }
}

/** `path` without links, where it lies below one of `roots`; a relative one is tried in each. */
export async function realPathBelow(
  roots: readonly string[],
  path: string,
): Promise<string | undefined> {
  for (const root of roots) {
    const realRoot = await realpath(root).catch(() => undefined);
    if (realRoot === undefined) continue;
    const wanted = isAbsolute(path) ? path : resolve(realRoot, path);
    const real = await realpath(wanted).catch(() => undefined);
    if (real !== undefined && (real === realRoot || real.startsWith(realRoot + sep))) return real;
  }
  return undefined;
}
