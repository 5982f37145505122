import { importJWK, jwtVerify, type CryptoKey } from 'jose';
import { z } from 'zod';
import { AgentId, PrincipalId, TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { scopes, type Principal, type Scope } from '../../fabric/domain/principal.ts';
import type { TrustClass } from '../../fabric/domain/trust.ts';
import type { CardRegistry } from '../../cards/registry/card-registry.ts';
import type { Card } from '../../cards/schema/card.ts';
import { thumbprint, type PublicJwk } from '../../cards/schema/public-key.ts';
import { agentScopes } from './sign.ts';

/** How far two hosts' clocks may differ, seconds. */
const skewSeconds = 5;

const Claims = z.looseObject({
  iss: AgentId,
  sub: PrincipalId,
  aud: z.string(),
  exp: z.int().positive(),
  scope: z.string().max(400),
  act: z.looseObject({ sub: AgentId }).optional(),
  role: z.enum(['human', 'agent']).optional(),
  task: TaskId.optional(),
  fence: z.int().positive().optional(),
});
type Claims = z.infer<typeof Claims>;

/** A principal as a credential says it, and until when (ms since the epoch). */
export interface Vouched {
  readonly principal: Principal;
  readonly expiresAtMs: number;
}

/**
 * The caller of a JWT signed with the key that the caller's Card in the newest set names; undefined
 * for anything that does not hold. EdDSA only, `kid` = the key's thumbprint, `aud` = `audience`, at
 * most 5 min of life.
 */
export async function readSignedCall(
  registry: Pick<CardRegistry, 'card'>,
  token: string,
  audience: string,
  nowMs: number,
): Promise<Vouched | undefined> {
  const issuer = registry.card(unprovenIssuer(token) ?? '');
  if (issuer?.identity === undefined) return undefined;
  const claims = await provenClaims(issuer.identity, token, audience, nowMs);
  if (claims === undefined) return undefined;
  const principal = principalOf(registry, issuer, claims);
  return principal && { principal, expiresAtMs: claims.exp * 1_000 };
}

/** Only says whose key to try; believed after the signature holds. */
function unprovenIssuer(token: string): string | undefined {
  try {
    const body = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    return z.looseObject({ iss: AgentId }).safeParse(JSON.parse(body)).data?.iss;
  } catch {
    return undefined;
  }
}

async function provenClaims(
  jwk: PublicJwk,
  token: string,
  audience: string,
  nowMs: number,
): Promise<Claims | undefined> {
  const read = await jwtVerify(token, await publicKey(jwk), {
    algorithms: ['EdDSA'],
    typ: 'JWT',
    audience,
    clockTolerance: skewSeconds,
    currentDate: new Date(nowMs),
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'scope'],
  }).catch(() => undefined);
  if (read?.protectedHeader.kid !== thumbprint(jwk.x)) return undefined;
  const claims = Claims.safeParse(read.payload).data;
  if (claims === undefined) return undefined;
  const lastMs = nowMs + limits.tokenLifeMs + skewSeconds * 1_000;
  return claims.exp * 1_000 <= lastMs ? claims : undefined;
}

const keys = new WeakMap<PublicJwk, Promise<CryptoKey | Uint8Array>>();

function publicKey(jwk: PublicJwk): Promise<CryptoKey | Uint8Array> {
  const known = keys.get(jwk);
  if (known) return known;
  const key = importJWK({ kty: jwk.kty, crv: jwk.crv, x: jwk.x }, 'EdDSA');
  keys.set(jwk, key);
  return key;
}

function principalOf(
  registry: Pick<CardRegistry, 'card'>,
  issuer: Card,
  claims: Claims,
): Principal | undefined {
  const granted = grantedScopes(claims.scope, issuer);
  if (claims.act !== undefined) return relayed(registry, issuer, claims, granted);
  const { task: taskId, fence } = claims;
  const isHalfBound = (taskId === undefined) !== (fence === undefined);
  if (claims.sub !== (issuer.id as string) || isHalfBound) return undefined;
  return {
    id: claims.sub,
    role: roleOf(issuer.trust),
    trust: issuer.trust,
    scopes: granted,
    ...reviewing(issuer),
    ...(taskId !== undefined && fence !== undefined ? { run: { taskId, fence } } : {}),
  };
}

/** Only a trusted router may say for whom it acts; nobody else is believed (`DESIGN.md` 6.2). */
function relayed(
  registry: Pick<CardRegistry, 'card'>,
  issuer: Card,
  { sub, act, role, task }: Claims,
  granted: ReadonlySet<Scope>,
): Principal | undefined {
  const mayRelay = issuer.runtime === 'router' && issuer.trust === 'trusted';
  if (!mayRelay || act?.sub !== issuer.id || task !== undefined) return undefined;
  const card = registry.card(sub);
  const trust = card?.trust ?? (role === 'human' ? 'human' : 'untrusted');
  return {
    id: sub,
    role: roleOf(trust),
    trust,
    scopes: granted,
    ...reviewing(card),
    actor: PrincipalId.parse(issuer.id),
  };
}

/** What a Card adds to the principal of an agent that may verify the work of others. */
export const reviewing = (card: Card | undefined): Pick<Principal, 'reviewer'> =>
  card?.verification.reviewer ? { reviewer: true } : {};

export const roleOf = (trust: TrustClass): Principal['role'] =>
  trust === 'human' ? 'human' : 'agent';

const known: ReadonlySet<string> = new Set(scopes);
const isScope = (word: string): word is Scope => known.has(word);

/** Of what it asks for, what an agent may have; a trusted host may also work its queue from afar. */
function grantedScopes(scope: string, issuer: Card): ReadonlySet<Scope> {
  const mostly = new Set<Scope>(agentScopes);
  if (issuer.trust === 'trusted') mostly.add('tasks:work');
  return new Set(
    scope.split(' ').filter((word) => isScope(word) && mostly.has(word)),
  ) as Set<Scope>;
}
