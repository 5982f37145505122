import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommittedTree } from './committed-tree.ts';

/**
 * The Cards and personas as they lie in a folder, committed or not: for checks before a commit,
 * never for serving. A folder without `cards/` is read as that folder itself (the catalog's layout).
 */
export async function readWorkTree(dir: string): Promise<CommittedTree> {
  const names = await readdir(dir);
  const cards = await filesIn(names.includes('cards') ? join(dir, 'cards') : dir, '.card.yaml');
  const personas = names.includes('personas') ? await filesIn(join(dir, 'personas'), '.md') : [];
  const files = [
    ...cards.map(([name, bytes]) => [`cards/${name}`, bytes] as const),
    ...personas.map(([name, bytes]) => [`personas/${name}`, bytes] as const),
  ];
  return { commit: '0'.repeat(40), files: new Map(files), ignored: [] };
}

async function filesIn(
  dir: string,
  ending: string,
): Promise<readonly (readonly [string, Buffer])[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending));
  const names = files.map(({ name }) => name).sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const));
}
