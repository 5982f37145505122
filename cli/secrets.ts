import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenStore } from '../agents/auth/token-store.ts';
import { writeFileAtomically } from '../cards/registry/atomic-file.ts';
import { InvalidValueError } from '../fabric/domain/errors.ts';
import { scopes } from '../fabric/domain/principal.ts';
import type { Environment } from './config.ts';
import type { HomePaths } from './home.ts';

/**
 * The secret that task ids and run tokens are made with: `MESH_SECRET`, else the home's own file. The
 * same on every host of a mesh.
 */
export async function loadMeshSecret(paths: HomePaths, environment: Environment): Promise<string> {
  const secret = environment.meshSecret ?? (await textOf(paths.secret));
  if (secret !== undefined && secret.length >= 32) return secret;
  throw new InvalidValueError(
    `${paths.secret} is missing or shorter than 32 characters. Restore it from a backup, or set MESH_SECRET; ` +
      'a new secret would give known tasks new names.',
    'MESH_SECRET',
  );
}

/** The operator's own token, made once for `person` with every scope; its file has mode 0600. */
export async function operatorToken(
  paths: HomePaths,
  tokens: TokenStore,
  person: string,
): Promise<string> {
  const known = await textOf(paths.operatorToken);
  if (known !== undefined && tokens.find(known)?.principalId === person) return known;
  const { token } = await tokens.createToken({
    principalId: person,
    role: 'human',
    scopes: [...scopes],
    label: 'operator',
  });
  await writeFileAtomically(paths.operatorToken, `${token}\n`, 0o600);
  return token;
}

/** An agent's own key for the gateway, where the operator has put one; else the mesh's. */
export function gatewayKeyOf(paths: HomePaths, environment: Environment, agentId: string): string {
  const file = join(paths.keys, 'gateway', `${agentId}.key`);
  // Read at an agent's first call only; a gateway without authentication takes any word.
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  return environment.gatewayKey ?? 'none';
}

/** A secret that the settings name: the value of the variable, else of the file that `<name>_FILE` names. */
export function namedSecret({ all }: Environment, name: string): string | undefined {
  const value = all[name];
  if (value !== undefined && value !== '') return value;
  const file = all[`${name}_FILE`];
  if (file === undefined || !existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8').trim();
  return text === '' ? undefined : text;
}

async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
