import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../cards/agent-card/canonical-json.ts';

/** RFC 8785, appendix B: IEEE 754 bits and the text of the number. */
const numbers: readonly (readonly [string, string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

const toNumber = (hex: string): number => Buffer.from(hex, 'hex').readDoubleBE();

describe('the canonical text of JSON (RFC 8785)', () => {
  it.each(numbers)('writes the number %s as %s', (hex, text) => {
    expect(canonicalJson(toNumber(hex))).toBe(text);
  });

  it.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])('refuses %s', (hex) => {
    expect(() => canonicalJson({ a: toNumber(hex) })).toThrow(/\$\.a is .*finite/);
  });

  it('writes the example of section 3.2.2', () => {
    const value: unknown = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    );
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('sorts keys by UTF-16 units, as in section 3.2.3', () => {
    const value: unknown = JSON.parse(
      String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
    );
    const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name);
    expect(order).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('refuses half a surrogate pair in a value and in a key', () => {
    expect(() => canonicalJson({ a: '\ud83d' })).toThrow(/\$\.a holds half of a surrogate pair/);
    expect(() => canonicalJson({ '\ude00': 1 })).toThrow(/surrogate/);
    expect(canonicalJson('\ud83d\ude00')).toBe('"😀"');
  });

  it.each([undefined, { a: undefined }, 1n, new Date(0), () => 1, [Symbol('x')]])(
    'refuses what is no JSON: %s',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(/JSON has no text for/);
    },
  );
});
