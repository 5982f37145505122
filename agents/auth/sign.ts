import { importJWK, SignJWT } from 'jose';
import type { Scope } from '../../fabric/domain/principal.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { thumbprint } from '../../cards/schema/public-key.ts';

/** An Ed25519 private key as JWK; it stays on its persona's host. */
export interface PrivateJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
}

/** What an agent's own credential may carry at most; the rest belongs to people and to hosts. */
export const agentScopes: readonly Scope[] = [
  'tasks:submit',
  'tasks:read',
  'tasks:answer',
  'tasks:verify',
  'tasks:cancel',
  'cards:read',
];

export interface CallSigning {
  readonly agentId: string;
  readonly privateJwk: PrivateJwk;
  /** The id of the agent that is called. */
  readonly audience: string;
  readonly clock: Clock;
  /** Default: all that an agent may. */
  readonly scope?: readonly Scope[];
  /** The run that calls: it may submit children of that task and await them, nothing else. */
  readonly run?: { readonly taskId: string; readonly fence: number };
  /** Only for a trusted router or front, which relays for somebody it has authenticated. */
  readonly onBehalfOf?: { readonly id: string; readonly role: 'human' | 'agent' };
}

/** Life of a signed call, seconds; the verifier takes at most `limits.tokenLifeMs`. */
const lifeSeconds = 120;

/**
 * A short JWT for one call: `iss = sub` = the caller, `aud` = the target, signed with the caller's key
 * (`DESIGN.md` 7). With `onBehalfOf`: `sub` = whom it acts for, `act` = itself (RFC 8693).
 */
export async function signCall(call: CallSigning): Promise<string> {
  const { agentId, privateJwk, run, onBehalfOf } = call;
  const nowSeconds = Math.floor(call.clock.nowMs() / 1_000);
  const claims = {
    scope: (call.scope ?? agentScopes).join(' '),
    ...(run ? { task: run.taskId, fence: run.fence } : {}),
    ...(onBehalfOf ? { act: { sub: agentId }, role: onBehalfOf.role } : {}),
  };
  const key = await importJWK({ ...privateJwk }, 'EdDSA');
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: thumbprint(privateJwk.x) })
    .setIssuer(agentId)
    .setSubject(onBehalfOf?.id ?? agentId)
    .setAudience(call.audience)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + lifeSeconds)
    .sign(key);
}
