import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../cards/registry/atomic-file.ts';
import type { Sent } from './plan.ts';

/** That a person was sent the digest of a day, so that a restart does not send it again. */
export interface DigestMarks {
  last(person: string, day: string): Promise<Sent | undefined>;
  /** Before the nth try; false where another process of this host has it. */
  claim(person: string, day: string, sent: Sent): Promise<boolean>;
  settle(person: string, day: string, sent: Sent): Promise<void>;
}

const Mark = z.strictObject({
  n: z.int().positive(),
  status: z.enum(['prepared', 'sending', 'failed', 'unknown', 'published']),
  atMs: z.int().positive(),
});

/** No draft of `writeFileAtomically`. */
const whole = /^[^.]+\.\d{4}-\d\d-\d\d\.\d+$/u;

/**
 * One file a try, `<person>.<day>.<n>`: whoever makes it sends. Beside the board on purpose: a digest is no
 * task, and whoever loses this folder gets one digest twice.
 */
export function fileDigestMarks(folder: string): DigestMarks {
  const fileOf = (person: string, day: string, n: number) => join(folder, `${person}.${day}.${n}`);
  const namesOf = async (person: string) => {
    const names = await readdir(folder).catch(() => []);
    return names.filter((name) => name.startsWith(`${person}.`) && whole.test(name));
  };
  return {
    async last(person, day) {
      const ofDay = (await namesOf(person)).filter((name) => name.startsWith(`${person}.${day}.`));
      const n = Math.max(0, ...ofDay.map((name) => Number(name.split('.')[2])));
      if (n === 0) return undefined;
      const mark = Mark.safeParse(await jsonIn(fileOf(person, day, n)));
      // Cut short by a crash: it was claimed, and nobody knows more.
      return mark.data ?? { n, status: 'unknown', atMs: 1 };
    },
    async claim(person, day, sent) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = await open(fileOf(person, day, sent.n), 'wx', 0o600).catch(taken);
      if (file === undefined) return false;
      try {
        await file.writeFile(JSON.stringify(sent));
        await file.sync();
      } finally {
        await file.close();
      }
      const old = (await namesOf(person)).filter((name) => !name.startsWith(`${person}.${day}.`));
      await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
      return true;
    },
    settle: (person, day, sent) =>
      writeFileAtomically(fileOf(person, day, sent.n), JSON.stringify(sent), 0o600),
  };
}

function taken(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
  throw error;
}

async function jsonIn(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}
