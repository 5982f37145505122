import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson } from '../../agents/runtimes/strict-json.ts';

describe('strict JSON', () => {
  it('reads what JSON.parse reads, to the same value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.nat(3), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(parseStrictJson(spaced)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      }),
      { numRuns: 500 },
    );
  });

  it('takes nothing that JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ':', ',', '"', '"a"', '1', '-', '0', '.', 'e5', 'null', 'true', ' '],
      ...['\\', '\\u12', '\u0000', '\n', '\u007f', '//'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        if (!parseStrictJson(text).ok) return;
        expect(() => JSON.parse(text) as unknown).not.toThrow();
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', /the key "a" twice/],
    [String.raw`{"a":1,"\u0061":2}`, /the key "a" twice/],
    ['{"a":{"b":1,"b":1}}', /the key "b" twice/],
    ['{"__proto__":1,"__proto__":2}', /twice/],
    ['{} {}', /nothing more expected/],
    ['{}x', /nothing more expected/],
    ['', /a value expected, the end found/],
    ['\ufeff{}', /a value expected/],
    ["{'a':1}", /a string expected/],
    ['[1,]', /a value expected/],
    ['{"a":01}', /"," or "}" expected/],
    ['"a\tb"', /a string expected/],
    ['NaN', /a value expected/],
    [`${'['.repeat(100)}${']'.repeat(100)}`, /more than 64 levels/],
  ])('refuses %s', (text, reason) => {
    const parsed = parseStrictJson(text);
    expect(parsed.ok ? 'taken' : parsed.reason).toMatch(reason);
  });

  it('keeps __proto__ a plain key', () => {
    const parsed = parseStrictJson('{"__proto__":{"admin":true}}');
    expect(parsed.ok && Object.hasOwn(parsed.value as object, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });
});
