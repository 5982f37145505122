/** What a person reads of an answer before the rest is left to the run's own page. */
const mostChars = 1_500;

/**
 * Somebody else's words inside a text of the mesh: a line as it is, more as a quote. No heading, picture or
 * link of theirs becomes the board's, nothing is fetched for them.
 */
export function quoted(text: string): string {
  const plain = plainWords(text);
  return plain.includes('\n') ? `\n${asQuoteLines(plain)}` : plain;
}

/** The same as a quote of its own, however short. */
export const asQuote = (text: string): string => asQuoteLines(plainWords(text));

/** One line, cut, that Markdown takes for words or for an address as it is written. */
export const oneLine = (text: string, most: number): string => {
  const line = text.replace(/\s+/gu, ' ').trim().toWellFormed();
  return line.length <= most ? line : `${line.slice(0, most - 2).toWellFormed()} …`;
};

/** One line that Markdown shows letter for letter. */
export const code = (text: string): string => `\`${oneLine(text, 200).replaceAll('`', '’')}\``;

/** Words of one line, in which no mark counts. */
export const plainLine = (text: string, most: number): string => escaped(oneLine(text, most));

const asQuoteLines = (plain: string): string =>
  plain
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

/** A lone carriage return is a new line for Markdown: unseen it would leave the quote. */
const plainWords = (text: string): string => escaped(cut(text.replace(/\r\n?/gu, '\n')));

/** `[` opens every link and picture; the others begin a heading, underline one, or leave or nest a quote. */
const escaped = (text: string): string =>
  text
    .replace(/\\*\[/gu, (marks) => marks.replace(/./gu, '\\$&'))
    .replace(/^([ \t]*)(?=#|>|[=-]+[ \t]*$)/gmu, '$1\\');

const cut = (text: string): string => {
  const fits = text.trim().toWellFormed();
  return fits.length <= mostChars ? fits : `${fits.slice(0, mostChars).toWellFormed()} …`;
};
