import { randomFillSync } from 'node:crypto';
import type { Random } from '../ports/random.ts';

/** Bytes fetched at a time: a call to the kernel for each token costs more than the token. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** The machine's own chance; bytes come from the cryptographic source, and each is given out once. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  hex(bytes) {
    if (bytes > pool.length) return randomFillSync(Buffer.alloc(bytes)).toString('hex');
    if (used + bytes > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const text = pool.toString('hex', used, used + bytes);
    pool.fill(0, used, used + bytes);
    used += bytes;
    return text;
  },
};
