import { stripVTControlCharacters } from 'node:util';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const wide =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Extended_Pictographic}/u;

/** How many places of a terminal `text` takes; colours take none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) {
    width += wide.test(segment) ? 2 : 1;
  }
  return width;
}

const gap = '  ';

/** Rows as aligned columns, two spaces apart, without spaces at the end of a line. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell));
    });
  }
  return rows.map((row) => lineOf(row, widths)).join('\n');
}

function lineOf(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - displayWidth(cell)))
    .join(gap)
    .trimEnd();
}

/** A heading row over rows, or `nothing` where there are none. */
export function table(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): string {
  return rows.length === 0 ? nothing : columns([heading, ...rows]);
}

/** Every line of `text` behind `margin`. */
export function indent(text: string, margin = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : margin + line))
    .join('\n');
}
