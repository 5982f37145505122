import { generateKeyPair } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InvalidValueError } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';
import { PrivateJwk } from '../agent-card/card-signature.ts';
import type { PublicJwk } from '../schema/public-key.ts';
import { thumbprint } from '../schema/public-key.ts';
import { writeFileAtomically } from './atomic-file.ts';

const generate = promisify(generateKeyPair);

/** Where the private keys of a home's agents lie: `<stateDir>/keys/<id>.jwk.json`, mode 0600. */
export const keyFile = (stateDir: string, agentId: string): string =>
  join(stateDir, 'keys', `${agentId}.jwk.json`);

/**
 * The agent's public key, for its Card. Makes an Ed25519 pair where the host has none; a key that
 * is there stays. Rejects with InvalidValueError when the file is there and is no key.
 */
export async function cardKey(stateDir: string, agentId: string): Promise<PublicJwk> {
  const id = parsedAs(AgentId, agentId, 'agent');
  return toPublic((await readAgentKey(stateDir, id)) ?? (await makeAgentKey(stateDir, id)));
}

/** The agent's private key on this host; undefined where there is none. */
export async function readAgentKey(
  stateDir: string,
  agentId: string,
): Promise<PrivateJwk | undefined> {
  const path = keyFile(stateDir, parsedAs(AgentId, agentId, 'agent'));
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isAbsent(error)) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = PrivateJwk.safeParse(parsed(text));
  if (key.success && key.data.kid === thumbprint(key.data.x)) return key.data;
  const words = `The key file ${agentId}.jwk.json is not an Ed25519 key of ours`;
  throw new InvalidValueError(
    `${words}. Restore it, or remove it and register a new key.`,
    'identity',
  );
}

async function makeAgentKey(stateDir: string, agentId: string): Promise<PrivateJwk> {
  const { privateKey } = await generate('ed25519');
  const { kty, crv, x, d } = privateKey.export({ format: 'jwk' });
  const key = PrivateJwk.parse({ kty, crv, x, d, kid: thumbprint(x ?? '') });
  await mkdir(join(stateDir, 'keys'), { recursive: true, mode: 0o700 });
  await writeFileAtomically(keyFile(stateDir, agentId), `${JSON.stringify(key)}\n`, 0o600);
  return key;
}

function toPublic({ kty, crv, x, kid }: PrivateJwk): PublicJwk {
  return { kty, crv, x, kid };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
