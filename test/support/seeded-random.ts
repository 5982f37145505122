import type { Random } from '../../fabric/ports/random.ts';

/** Mulberry32: small, even enough for tests, and the same for the same seed everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    hex: (bytes) =>
      Array.from({ length: bytes }, () =>
        Math.floor(fraction() * 256)
          .toString(16)
          .padStart(2, '0'),
      ).join(''),
  };
}
