/** `1 problem`, `2 problems`: a count with its noun, for people. Nouns that take more than an s are not for it. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
