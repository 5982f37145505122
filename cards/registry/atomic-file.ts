import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a whole file or nothing: a reader sees the old text or the new one, also after a power cut.
 * Two processes that write one file each win whole; the later one stays.
 */
export async function writeFileAtomically(path: string, text: string, mode: number): Promise<void> {
  const folder = await mkdtemp(`${path}.draft-`);
  try {
    const draft = join(folder, 'draft');
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
