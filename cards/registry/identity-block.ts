import type { PublicJwk } from '../schema/public-key.ts';

/** The `identity` of a Card file that has none yet, to be put at its end. */
export function identityBlock({ kty, crv, x, kid }: PublicJwk): string {
  return `identity:\n  kty: ${kty}\n  crv: ${crv}\n  x: '${x}'\n  kid: '${kid}'\n`;
}
