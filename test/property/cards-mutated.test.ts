import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDeepStrictEqual } from 'node:util';
import { type CardProblem, isError } from '../../cards/schema/card-problem.ts';
import { lintSet } from '../../cards/schema/lint-set.ts';
import { readCard } from '../../cards/schema/read-card.ts';

const catalog = join(import.meta.dirname, '..', '..', 'cards', 'catalog');
const names = readdirSync(catalog).filter((name) => name.endsWith('.card.yaml'));
const texts = names.map((name) => ({
  file: `cards/${name}`,
  text: readFileSync(join(catalog, name), 'utf8'),
}));
const personas = new Set(readdirSync(join(catalog, 'personas')).map((name) => `personas/${name}`));
const facts = { personas, defaultHuman: 'operator' };
const nowMs = Date.UTC(2026, 10, 30);
const read = ({ file, text }: { file: string; text: string }) =>
  readCard(file, new TextEncoder().encode(text), nowMs);

/** One edit as a hurried person or a hostile one makes it: a line gone, twice, moved, or changed. */
const edit = fc.record({
  kind: fc.constantFrom('drop', 'double', 'swap', 'indent', 'value', 'noise'),
  line: fc.nat(200),
  text: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      'null',
      '[]',
      '{}',
      '-1',
      '""',
      '&a b',
      '*a',
      '!x y',
      '1e999',
      '---',
      '__proto__: 1',
    ),
  ),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function edited(text: string, { kind, line, text: noise }: Edit): string {
  const lines = text.split('\n');
  const at = line % lines.length;
  const chosen = lines[at] ?? '';
  const other = lines[(at + 1) % lines.length] ?? '';
  if (kind === 'drop') return lines.toSpliced(at, 1).join('\n');
  if (kind === 'double') return lines.toSpliced(at, 0, chosen).join('\n');
  if (kind === 'swap') return lines.with(at, other).join('\n');
  if (kind === 'indent') return lines.with(at, `  ${chosen}`).join('\n');
  if (kind === 'value') return lines.with(at, chosen.replace(/:.*/, `: ${noise}`)).join('\n');
  return lines.with(at, chosen + noise).join('\n');
}

const isWhole = ({ code, line, column, message, fix }: CardProblem): boolean =>
  /^[A-Z][A-Z0-9_]+$/.test(code) && line > 0 && column > 0 && message !== '' && fix !== '';

test('1,000 mutated Cards: never a throw, the same verdict twice, and reasons with a place', () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      (source, edits) => {
        const mutant = { ...source, text: edits.reduce(edited, source.text) };
        const { place: _place, ...once } = read(mutant);
        const { place: _again, ...twice } = read(mutant);
        expect(isDeepStrictEqual(once, twice)).toBe(true);
        expect(once.card === undefined).toBe(once.problems.some(isError));
        expect(once.problems.filter((problem) => !isWhole(problem))).toEqual([]);
        if (once.card === undefined) refused += 1;
      },
    ),
    { numRuns: 1_000 },
  );
  expect(refused).toBeGreaterThan(300);
}, 90_000);

test('a mutant leaves the verdicts on all other Cards as they were', () => {
  const others = texts.map(read);
  const before = others.map(({ problems }) => problems);
  fc.assert(
    fc.property(fc.constantFrom(...texts), edit, (source, change) => {
      const mutant = read({ ...source, text: edited(source.text, change) });
      lintSet([...others, mutant], facts);
      expect(others.map(({ problems }) => problems)).toEqual(before);
    }),
    { numRuns: 100 },
  );
});
