import { generateKeyPairSync } from 'node:crypto';
import { CompactSign, flattenedVerify, importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { fullCardSource } from '../../cards/agent-card/agent-card-source.ts';
import { agentCardJson } from '../../cards/agent-card/agent-card-wire.ts';
import {
  canonicalJson,
  type Json,
  type JsonObject,
} from '../../cards/agent-card/canonical-json.ts';
import {
  PrivateJwk,
  signAgentCard,
  verifyAgentCard,
} from '../../cards/agent-card/card-signature.ts';
import { type PublicJwk, thumbprint } from '../../cards/schema/public-key.ts';
import { readCard } from '../../cards/schema/read-card.ts';
import { cardBytes } from '../support/card-yaml.ts';

function newKey(): { secret: PrivateJwk; open: PublicJwk } {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const secret = PrivateJwk.parse({ ...jwk, kid: thumbprint(jwk.x ?? '') });
  const { d: _secret, ...open } = secret;
  return { secret, open };
}

const key = newKey();
const trusted = (kid: string) => (kid === key.open.kid ? key.open : undefined);

const { card } = readCard('cards/adolf.card.yaml', cardBytes({ tier: 'large' }), 1);
if (card === undefined) throw new Error('the sound Card of the tests is not sound');
const plain = agentCardJson(
  fullCardSource(card, { url: 'https://mesh.example.org/agents/adolf/', commit: 'c'.repeat(40) }),
  '1.0',
);
const signed = signAgentCard(plain, key.secret);

type Change = readonly [what: string, changed: Json];
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Each way to change one thing of a JSON value: a leaf, a key or item gone, one too many, two swapped. */
function* changes(value: Json, path: string): Generator<Change> {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    for (const [index, item] of items.entries()) {
      for (const [what, inner] of changes(item, `${path}[${index}]`))
        yield [what, items.with(index, inner)];
      yield [`${path}[${index}] removed`, items.toSpliced(index, 1)];
      yield [`${path}[${index}] repeated`, items.toSpliced(index, 0, item)];
    }
    if (items.length > 1) yield [`${path} reversed`, items.toReversed()];
    yield [`${path} longer`, [...items, 'added']];
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      for (const [what, inner] of changes(member, `${path}.${name}`))
        yield [what, { ...value, [name]: inner }];
      const { [name]: _gone, ...rest } = value;
      yield [`${path}.${name} removed`, rest];
      yield [`${path}.${name} renamed`, { ...rest, [`${name}2`]: member }];
    }
    yield [`${path} with one more`, { ...value, added: 'x' }];
  } else if (typeof value === 'string') {
    yield [`${path} longer`, `${value} `];
    yield [`${path} empty`, ''];
    const last = value.at(-1) === 'A' ? 'B' : 'A';
    yield [`${path} with another end`, `${value.slice(0, -1)}${last}`];
  } else yield [`${path} other`, typeof value === 'boolean' ? !value : 'x'];
}

describe('a signed agent card', () => {
  it('verifies as it is, and after a way over the wire in any key order', () => {
    const back: unknown = JSON.parse(JSON.stringify(signed));
    const reversed = Object.fromEntries(Object.entries(signed).reverse());
    for (const same of [signed, back, reversed])
      expect(verifyAgentCard(same, trusted)).toEqual({ ok: true, kids: [key.open.kid] });
  });

  it('is a JWS that another library verifies', async () => {
    const [signature] = signed['signatures'] as [{ protected: string; signature: string }];
    const payload = Buffer.from(canonicalJson(plain)).toString('base64url');
    const result = await flattenedVerify(
      { ...signature, payload },
      await importJWK(key.open, 'EdDSA'),
    );
    expect(result.protectedHeader).toEqual({ alg: 'EdDSA', kid: key.open.kid, typ: 'JOSE' });
  });

  it('fails when any one thing of it is changed, security and signature included', () => {
    const all = [...changes(signed, '$')];
    const passed = all.filter(([, changed]) => verifyAgentCard(changed, trusted).ok);
    expect(passed.map(([what]) => what)).toEqual([]);
    expect(all.length).toBeGreaterThan(250);
    const touched = all.map(([what]) => what).join('\n');
    expect(touched).toMatch(/securitySchemes\.meshJwt\.httpAuthSecurityScheme\.scheme empty/);
    expect(touched).toMatch(/securityRequirements\[0\]\.schemes\.meshJwt\.list\[0\] removed/);
  });

  it('counts as unsigned by a key that was not pinned', () => {
    const other = signAgentCard(plain, newKey().secret);
    expect(verifyAgentCard(other, trusted)).toEqual({ ok: false, reason: 'unknownKey' });
    expect(verifyAgentCard(plain, trusted)).toEqual({ ok: false, reason: 'unsigned' });
  });

  it('takes no header but the one it knows', async () => {
    const signedWith = async (header: Readonly<Record<string, unknown>>) => {
      const compact = await new CompactSign(Buffer.from(canonicalJson(plain)))
        .setProtectedHeader({ alg: 'EdDSA', kid: key.open.kid, ...header })
        .sign(await importJWK(key.secret, 'EdDSA'));
      const [guarded = '', , signature = ''] = compact.split('.');
      return verifyAgentCard(
        { ...plain, signatures: [{ protected: guarded, signature }] },
        trusted,
      );
    };
    expect(await signedWith({ typ: 'JOSE' })).toMatchObject({ ok: true });
    expect(await signedWith({ jku: 'https://evil.example/keys' })).toMatchObject({ ok: true });
    expect(await signedWith({ typ: 'JWT' })).toEqual({ ok: false, reason: 'malformedSignature' });
    expect(await signedWith({ extra: 1 })).toEqual({ ok: false, reason: 'malformedSignature' });
    expect(await signedWith({ kid: 'other' })).toEqual({ ok: false, reason: 'unknownKey' });
  });

  it('never throws on what is no card', () => {
    for (const odd of [
      null,
      1,
      'x',
      [],
      {},
      { signatures: 1 },
      { signatures: [] },
      { ...signed, a: '\ud800' },
    ])
      expect(verifyAgentCard(odd, trusted).ok).toBe(false);
  });
});
