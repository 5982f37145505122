import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from './atomic-file.ts';

const LastGood = z.strictObject({
  version: z.literal(1),
  commit: z.string().regex(/^[0-9a-f]{40,64}$/),
});

/** Remembers over restarts which commit was last served, for a start at a commit that is bad. */
export interface LastGoodFile {
  read(): Promise<string | undefined>;
  write(commit: string): Promise<void>;
}

export function lastGoodFile(stateDir: string): LastGoodFile {
  const path = join(stateDir, 'registry.json');
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : commitIn(text);
    },
    async write(commit) {
      await mkdir(stateDir, { recursive: true, mode: 0o700 });
      await writeFileAtomically(path, `${JSON.stringify({ version: 1, commit })}\n`, 0o600);
    },
  };
}

/** A file that was cut or changed by hand counts as none: it only saves a look at history. */
function commitIn(text: string): string | undefined {
  try {
    return LastGood.parse(JSON.parse(text)).commit;
  } catch {
    return undefined;
  }
}
