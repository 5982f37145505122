import { randomBytes } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** The machine's own chance; bytes come from the cryptographic source. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
};
