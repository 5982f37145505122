import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Liveness } from '../fabric/ports/liveness.ts';

export interface BesideDatabase {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * A database for the streams of a process whose tasks lie on another board: `folder/<incarnation>/`.
 * It is worth nothing after that process, so those of the dead go when the next one starts.
 */
export async function besideDatabase(
  folder: string,
  liveness: Pick<Liveness, 'incarnation' | 'isDead'>,
): Promise<BesideDatabase> {
  const own = join(folder, liveness.incarnation);
  await mkdir(own, { recursive: true, mode: 0o700 });
  for (const other of await readdir(folder)) {
    if (await liveness.isDead(other))
      await rm(join(folder, other), { recursive: true, force: true });
  }
  return {
    path: join(own, 'streams.db'),
    remove: () => rm(own, { recursive: true, force: true }),
  };
}
