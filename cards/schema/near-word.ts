/** The word of `words` that is at most two typing mistakes away, for "did you mean". */
export function nearWord(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((candidate) => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.far - other.far);
  const best = ranked[0];
  return best !== undefined && best.far <= 2 && best.far < word.length ? best.candidate : undefined;
}

/** Levenshtein distance; both words are short keys. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3;
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 3;
}
