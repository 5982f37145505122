import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { PublicJwk } from '../schema/public-key.ts';
import { canonicalJson, type JsonObject } from './canonical-json.ts';

/** An agent's private key as JWK; it stays with the host of the persona. */
export const PrivateJwk = z.strictObject({ ...PublicJwk.unwrap().shape, d: z.string().length(43) });
export type PrivateJwk = z.infer<typeof PrivateJwk>;

/** `kid`s of the keys that signed, or why the card counts as unsigned. */
export type CardVerdict =
  | { readonly ok: true; readonly kids: readonly string[] }
  | { readonly ok: false; readonly reason: CardFault };
export type CardFault =
  'notACard' | 'unsigned' | 'malformedSignature' | 'unknownKey' | 'badSignature' | 'repeatedKey';

/**
 * Signs the wire JSON of an agent card (A2A 1.0, 8.4): a detached JWS, EdDSA, over the RFC 8785 text
 * of everything but `signatures`. Returns the card with this one signature.
 */
export function signAgentCard(card: JsonObject, key: PrivateJwk): JsonObject {
  const header = { alg: 'EdDSA', kid: key.kid, typ: 'JOSE' };
  const guarded = Buffer.from(JSON.stringify(header)).toString('base64url');
  const bytes = sign(null, signedBytes(card, guarded), privateKey(key));
  return { ...card, signatures: [{ protected: guarded, signature: bytes.toString('base64url') }] };
}

/**
 * Judges a card's signatures against keys that were pinned beforehand. Every signature must hold:
 * one that does not makes the card unsigned, whatever the others say. A `jku` is never followed.
 */
export function verifyAgentCard(
  card: unknown,
  trusted: (kid: string) => PublicJwk | undefined,
): CardVerdict {
  if (typeof card !== 'object' || card === null || Array.isArray(card)) return fault('notACard');
  const content = card as JsonObject;
  if (content['signatures'] === undefined) return fault('unsigned');
  const signatures = Signatures.safeParse(content['signatures']);
  if (!signatures.success) return fault('malformedSignature');
  const kids: string[] = [];
  for (const signature of signatures.data) {
    const judged = judgeSignature(content, signature, trusted);
    if (judged.fault !== undefined) return fault(judged.fault);
    if (kids.includes(judged.kid)) return fault('repeatedKey');
    kids.push(judged.kid);
  }
  return { ok: true, kids };
}

const Signatures = z
  .array(
    z.strictObject({ protected: z.string().min(1).max(2_000), signature: z.string().length(86) }),
  )
  .min(1)
  .max(8);

const Header = z.strictObject({
  alg: z.literal('EdDSA'),
  kid: z.string().min(1),
  typ: z.literal('JOSE').optional(),
  jku: z.string().optional(),
});

type Judged = { readonly kid: string; readonly fault?: undefined } | { readonly fault: CardFault };

function judgeSignature(
  card: JsonObject,
  { protected: guarded, signature }: z.infer<typeof Signatures>[number],
  trusted: (kid: string) => PublicJwk | undefined,
): Judged {
  const header = Header.safeParse(parsedHeader(guarded));
  if (!header.success) return { fault: 'malformedSignature' };
  const { kid } = header.data;
  const key = trusted(kid);
  if (key === undefined) return { fault: 'unknownKey' };
  const bytes = Buffer.from(signature, 'base64url');
  // The last character has bits to spare: only one spelling of the same bytes may pass.
  if (bytes.toString('base64url') !== signature) return { fault: 'malformedSignature' };
  return isSigned(card, guarded, bytes, key) ? { kid } : { fault: 'badSignature' };
}

function isSigned(card: JsonObject, guarded: string, bytes: Buffer, key: PublicJwk): boolean {
  try {
    const { kty, crv, x } = key;
    const publicKey = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
    return verify(null, signedBytes(card, guarded), publicKey, bytes);
  } catch (error) {
    // A card without a canonical text can't have been signed; anything else is a fault of ours.
    if (error instanceof InvalidValueError) return false;
    throw error;
  }
}

function signedBytes(card: JsonObject, guarded: string): Buffer {
  const content = Object.fromEntries(Object.entries(card).filter(([key]) => key !== 'signatures'));
  const payload = Buffer.from(canonicalJson(content)).toString('base64url');
  return Buffer.from(`${guarded}.${payload}`, 'ascii');
}

function parsedHeader(guarded: string): unknown {
  try {
    return JSON.parse(Buffer.from(guarded, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function privateKey({ kty, crv, x, d }: PrivateJwk): KeyObject {
  return createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' });
}

const fault = (reason: CardFault): CardVerdict => ({ ok: false, reason });
