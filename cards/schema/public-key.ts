import { createHash } from 'node:crypto';
import { z } from 'zod';

/** An Ed25519 public key as JWK (RFC 8037). A `d` would be the private half and is refused. */
export const PublicJwk = z
  .strictObject({
    kty: z.literal('OKP'),
    crv: z.literal('Ed25519'),
    x: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'x is 32 bytes in base64url, 43 characters'),
    kid: z.string().min(1).max(128),
    use: z.literal('sig').exactOptional(),
    alg: z.literal('EdDSA').exactOptional(),
  })
  .readonly();
export type PublicJwk = z.infer<typeof PublicJwk>;

/** RFC 7638 thumbprint of an Ed25519 public key; the `kid` of every key of ours. */
export function thumbprint(x: string): string {
  return createHash('sha256')
    .update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)
    .digest('base64url');
}
