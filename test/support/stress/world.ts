import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One thing that was done outside the mesh. Lines of one file, so their order is the order of the world. */
export interface Deed {
  readonly what: 'start' | 'act';
  readonly uid: string;
  readonly fence: number;
  readonly attempt: number;
}

/** The file; `O_APPEND` keeps lines of many processes whole. */
export const worldFile = (home: string): string => join(home, 'world.txt');

export const deedLine = ({ what, uid, fence, attempt }: Deed): string =>
  `${what} ${uid} ${fence} ${attempt}`;

/** Written down before this process goes on, whatever becomes of it then. */
export function doOutside(home: string, deed: Deed): void {
  appendFileSync(worldFile(home), `${deedLine(deed)}\n`);
}

/** Everything done so far, in order. */
export function deedsOf(home: string): readonly Deed[] {
  if (!existsSync(worldFile(home))) return [];
  const lines = readFileSync(worldFile(home), 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [what, uid = '', fence, attempt] = line.split(' ');
    return {
      what: what === 'act' ? 'act' : 'start',
      uid,
      fence: Number(fence),
      attempt: Number(attempt),
    };
  });
}
