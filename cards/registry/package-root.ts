import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of our package.json, sources and `dist/` alike: the build copies no YAML and lies one
 * level deeper, so shipped files are found from here.
 */
export function packageRoot(from: string = import.meta.dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const isRoot = existsSync(join(folder, 'package.json'));
    if (isRoot && existsSync(join(folder, 'cards', 'catalog'))) return folder;
    if (folder === dirname(folder))
      throw new Error(`No cardmesh package above ${from}. Install the package as a whole.`);
  }
}

/** The shipped Cards, personas, bots and settings. */
export const catalogFolder = (): string => join(packageRoot(), 'cards', 'catalog');
