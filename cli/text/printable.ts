import { stripVTControlCharacters } from 'node:util';

// Controls but tab and newline, and the marks that reverse the direction of what follows.
// eslint's no-control-regex is what this is about: they are named by their category instead.
const unprintable = /(?![\t\n])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text of others, safe to print: a task's words must not move the cursor, retitle the window or
 * hide what stands there.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replace(unprintable, '\ufffd');
}

/** The same on one line, cut to `most` characters. */
export function oneLine(text: string, most = Infinity): string {
  const line = printable(text).replace(/\s+/gu, ' ').trim();
  const letters = Array.from(line);
  return letters.length <= most ? line : `${letters.slice(0, most - 1).join('')}…`;
}
