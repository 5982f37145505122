const bitsPerTask = 10;
const probes = 4;
/** Hex digits a probe takes of the 32: four probes share no digit. */
const digits = 7;

const wordsFor = (tasks: number): number => Math.ceil((tasks * bitsPerTask) / 32);

/**
 * Which task ids a file may hold: a Bloom filter, so that a new task, the most frequent case, is known
 * to be new without asking the disk. "Absent" is certain; "present" may be wrong (about 1 in 80), then
 * the disk is asked. Ids are bits of an HMAC, so their own digits serve as the hashes.
 */
export class KnownTasks {
  readonly #layers: { readonly words: Uint32Array; free: number }[];

  /** @param words the bits of `bits()` of a filter made for `tasks` ids, `used` of them taken */
  constructor(words: Uint32Array, used: number) {
    this.#layers = [
      { words, free: Math.max(0, Math.floor((words.length * 32) / bitsPerTask) - used) },
    ];
  }

  /** An empty filter with room for `tasks` ids; past that it grows by layers. */
  static sizedFor(tasks: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(wordsFor(tasks));
  }

  add(uid: string): void {
    const newest = this.#layers.at(-1);
    if (newest === undefined) return;
    if (newest.free === 0) {
      this.#layers.push({ words: new Uint32Array(newest.words.length * 2), free: 0 });
      const layer = this.#layers.at(-1);
      if (layer === undefined) return;
      layer.free = Math.floor((layer.words.length * 32) / bitsPerTask);
      this.add(uid);
      return;
    }
    newest.free -= 1;
    mark(newest.words, uid);
  }

  mayHave(uid: string): boolean {
    return this.#layers.some(({ words }) => isMarked(words, uid));
  }
}

function bitOf(words: Uint32Array, uid: string, probe: number): number {
  return parseInt(uid.slice(probe * digits, (probe + 1) * digits), 16) % (words.length * 32);
}

/** Sets the bits of `uid` in `words`. */
export function mark(words: Uint32Array, uid: string): void {
  for (let probe = 0; probe < probes; probe++) {
    const bit = bitOf(words, uid, probe);
    const word = words[bit >>> 5] ?? 0;
    words[bit >>> 5] = word | (1 << (bit & 31));
  }
}

function isMarked(words: Uint32Array, uid: string): boolean {
  for (let probe = 0; probe < probes; probe++) {
    const bit = bitOf(words, uid, probe);
    if (((words[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}
