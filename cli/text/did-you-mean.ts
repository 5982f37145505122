import { nearWord } from '../../cards/schema/near-word.ts';

/** ` Did you mean adolf?` where one of `words` is nearly `word`, else nothing. */
export function didYouMean(word: string, words: readonly string[]): string {
  const near = nearWord(word, words);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}
