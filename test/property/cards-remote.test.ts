import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeRemoteCard } from '../../cards/agent-card/remote-card.ts';

const folder = join(import.meta.dirname, '..', 'fixtures', 'cards', 'remote');
const names = [
  'g01-relative-url.json',
  'g02-loopback-legacy-auth.json',
  'g03-valid-030-bearer-unknown-field.json',
  'g05-unknown-scheme-mixed-version.json',
];
const cards = names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown);
const policy = { labHosts: [] };

/** A copy of `value` in which one place, found by following `steps`, is `replacement`. */
function mutated(value: unknown, steps: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const entries = Object.entries(value);
  const entry = entries[step % Math.max(entries.length, 1)];
  if (entry === undefined) return replacement;
  const inner = mutated(entry[1], rest, replacement);
  if (Array.isArray(value)) return value.with(Number(entry[0]), inner);
  return { ...value, [entry[0]]: inner };
}

const card = fc
  .tuple(
    fc.constantFrom(...cards),
    fc.array(fc.tuple(fc.array(fc.nat(), { maxLength: 4 }), fc.jsonValue()), { maxLength: 3 }),
  )
  .map(([start, changes]) =>
    changes.reduce((value, [steps, replacement]) => mutated(value, steps, replacement), start),
  );

test('a mutated card never throws and gets the same verdict twice', () => {
  fc.assert(
    fc.property(card, (value) => {
      const text = JSON.stringify(value);
      const once = judgeRemoteCard(text, policy);
      expect(judgeRemoteCard(text, policy)).toEqual(once);
      expect(once.verdict === 'accept').toBe(once.codes.length === 0);
      expect(once.tokenOrigin === undefined).toBe(once.verdict === 'reject');
    }),
    { numRuns: 2_000 },
  );
});

test('cut and noisy text never throws', () => {
  const text = JSON.stringify(cards[2]);
  fc.assert(
    fc.property(fc.nat(text.length), fc.string(), (at, noise) => {
      const verdict = judgeRemoteCard(text.slice(0, at) + noise + text.slice(at), policy);
      expect(['accept', 'reject']).toContain(verdict.verdict);
    }),
    { numRuns: 2_000 },
  );
});

test('an unknown field survives load and save', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.jsonValue(), (suffix, value) => {
      const key = `x-${suffix}`;
      const text = JSON.stringify({ ...(cards[2] as object), [key]: value });
      const { card: loaded } = judgeRemoteCard(text, policy);
      const back = judgeRemoteCard(JSON.stringify(loaded), policy);
      expect(JSON.stringify(back.card?.[key])).toBe(JSON.stringify(value));
    }),
  );
});
