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

/** Below this a column says nothing any more, so a line rather wraps. */
const narrowest = 8;

/** Widths that fit `most` places, taken from the widest column first; the first one names the row and stays whole. */
function fitting([name = 0, ...rest]: readonly number[], most: number): readonly number[] {
  const total = () => rest.reduce((sum, width) => sum + gap.length + width, name);
  while (total() > most) {
    const widest = Math.max(...rest);
    if (widest <= narrowest) break;
    rest[rest.indexOf(widest)] = widest - 1;
  }
  return [name, ...rest];
}

function cut(cell: string, most: number): string {
  if (displayWidth(cell) <= most) return cell;
  let kept = '';
  for (const { segment } of graphemes.segment(cell)) {
    if (displayWidth(kept + segment) > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/**
 * Rows as aligned columns, two spaces apart, without spaces at the end of a line.
 * @param most places of the terminal; the widest columns are cut with … to fit. Absent: nothing is cut
 */
export function columns(rows: readonly (readonly string[])[], most = Infinity): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, displayWidth(cell));
    });
  }
  const fitted = fitting(widths, most);
  return rows
    .map((row) => row.map((cell, at) => cut(cell, fitted[at] ?? 0)))
    .map((row) => lineOf(row, fitted))
    .join('\n');
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
  most?: number,
): string {
  return rows.length === 0 ? nothing : columns([heading, ...rows], most);
}

/** Every line of `text` behind `margin`. */
export function indent(text: string, margin = '  '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '' : margin + line))
    .join('\n');
}
