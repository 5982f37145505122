import { hash } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { MeshError } from '../../fabric/domain/errors.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import type { Principal, Scope } from '../../fabric/domain/principal.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { CardRegistry } from '../../cards/registry/card-registry.ts';
import { credentialOf, type Credential } from './credential.ts';
import { readRunToken, runTokenType } from './run-token.ts';
import { readSignedCall, reviewing, roleOf, type Vouched } from './signed-call.ts';
import type { TokenStore } from './token-store.ts';

/**
 * Who calls, by the one credential of the request; `audience` is the id of the agent that is called.
 * Rejects with MeshError `UNAUTHENTICATED`, which never says what was wrong with a credential.
 */
export type Authenticate = (request: Request, audience: string) => Promise<Principal>;

export interface AuthenticateOptions {
  readonly registry: Pick<CardRegistry, 'card' | 'current'>;
  readonly tokens: TokenStore;
  readonly board: Pick<TaskBoard, 'read'>;
  readonly meshSecret: string;
  readonly clock: Clock;
}

/** Most credentials remembered; the oldest goes first. */
const mostRemembered = 1_000;

interface Remembered {
  readonly vouched: Vouched;
  /** The set of Cards and the list of tokens that it was checked against. */
  readonly cards: unknown;
  readonly tokens: string;
}

/**
 * The check of every credential that we issue or accept (`DESIGN.md` 7). A checked one is remembered
 * by its digest while it holds and Cards and tokens stay as they are; whether a run is still alive is
 * asked each time.
 */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { registry, tokens, clock } = options;
  const remembered = new Map<string, Remembered>();

  const vouchedFor = async (credential: Credential, audience: string) => {
    const digest = hash('sha256', `${audience}\n${credential.text}`, 'base64');
    const found = remembered.get(digest);
    const [cards, revision] = [registry.current(), tokens.revision()];
    if (found?.cards === cards && found.tokens === revision) return found.vouched;
    const vouched = await check(options, credential, audience);
    if (vouched === undefined) return undefined;
    remembered.set(digest, { vouched, cards, tokens: revision });
    if (remembered.size > mostRemembered) {
      for (const oldest of remembered.keys()) {
        remembered.delete(oldest);
        break;
      }
    }
    return vouched;
  };

  return async (request, audience) => {
    const credential = credentialOf(request);
    if (credential === undefined) throw unauthenticated(audience);
    const vouched = await vouchedFor(credential, audience);
    if (vouched === undefined) throw unauthenticated(audience);
    if (vouched.expiresAtMs <= clock.nowMs() - graceMs(credential)) throw unauthenticated(audience);
    const { principal } = vouched;
    if (principal.run && !(await isRunAlive(options, principal))) throw unauthenticated(audience);
    return principal;
  };
}

/** The verifier of signed calls allows the same for clocks that differ. */
const graceMs = ({ kind }: Credential): number => (kind === 'jwt' ? 5_000 : 0);

function unauthenticated(audience: string): MeshError {
  return new MeshError(
    'UNAUTHENTICATED',
    `The request carries no credential that ${audience} accepts. Send one: an API token (mesh token create) ` +
      'or a call signed by an agent of this mesh, as "Authorization: Bearer …".',
  );
}

async function check(
  options: AuthenticateOptions,
  { kind, text }: Credential,
  audience: string,
): Promise<Vouched | undefined> {
  const nowMs = options.clock.nowMs();
  if (kind === 'token') return vouchedByToken(options, text);
  return typeOf(text) === runTokenType
    ? vouchedByRun(options, text, nowMs)
    : readSignedCall(options.registry, text, audience, nowMs);
}

function typeOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}

function vouchedByToken({ tokens, registry }: AuthenticateOptions, text: string) {
  const record = tokens.find(text);
  if (record === undefined) return undefined;
  const { principalId: id, role } = record;
  const card = registry.card(id);
  const trust = card?.trust ?? (role === 'human' ? 'human' : 'untrusted');
  // A token can't make a person of what its Card calls an agent, nor the other way round.
  if (roleOf(trust) !== role) return undefined;
  const principal: Principal = {
    ...{ id, role, trust, scopes: new Set(record.scopes) },
    ...reviewing(card),
  };
  return { principal, expiresAtMs: record.expiresAtMs ?? Number.MAX_SAFE_INTEGER };
}

const runScopes: ReadonlySet<Scope> = new Set<Scope>(['tasks:submit', 'tasks:read']);

async function vouchedByRun(
  { meshSecret, registry }: AuthenticateOptions,
  text: string,
  nowMs: number,
): Promise<Vouched | undefined> {
  const claims = await readRunToken(meshSecret, text, nowMs);
  const card = registry.card(claims?.agentId ?? '');
  if (claims === undefined || card === undefined) return undefined;
  const { agentId, taskId, fence, expiresAtMs } = claims;
  return {
    principal: {
      id: PrincipalId.parse(agentId),
      role: roleOf(card.trust),
      trust: card.trust,
      scopes: runScopes,
      run: { taskId, fence },
    },
    expiresAtMs,
  };
}

/**
 * The log revokes: a run's credential holds while its task works under that very claim. Attempts don't
 * tell: one that was given back is counted again for the next run.
 */
async function isRunAlive({ board }: AuthenticateOptions, { id, run }: Principal) {
  if (run === undefined) return false;
  const state = (await board.read(run.taskId))?.state;
  const claim = state?.phase === 'working' ? state.claim : undefined;
  return claim?.fence === run.fence && claim.holder === id;
}
