import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TokenStore } from '../agents/auth/token-store.ts';
import { writeFileAtomically } from '../cards/registry/atomic-file.ts';
import { InvalidValueError, MeshError } from '../fabric/domain/errors.ts';
import { scopes } from '../fabric/domain/principal.ts';
import type { Random } from '../fabric/ports/random.ts';
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

/**
 * Kanboard's application token: the environment's, else of the file that it or `tokenFile` names, else of
 * `state/keys/kanboard.token`. A superuser's: nothing but the adapter of the board gets it.
 * @throws MeshError `UNAUTHENTICATED` without one
 */
export async function kanboardToken(
  { home, kanboardToken: own }: HomePaths,
  { kanboard }: Environment,
  tokenFile: string | undefined,
): Promise<string> {
  const file = kanboard.tokenFile ?? tokenFile;
  const path = file === undefined ? own : resolve(home, file);
  const token = kanboard.token ?? (await textOf(path));
  if (token !== undefined) return token;
  throw new MeshError(
    'UNAUTHENTICATED',
    'There is no application token for the Kanboard. Put the one of its Settings → API into ' +
      `${path} (mode 0600) or MESH_KANBOARD_TOKEN, or name its file as board.kanboard.tokenFile in mesh.yaml.`,
    { path: 'board.kanboard.tokenFile' },
  );
}

/** What Kanboard's webhook has to present; made once where nobody has set one. */
export async function kanboardWebhookToken(
  { home, kanboardWebhookToken: own }: HomePaths,
  { kanboard }: Environment,
  tokenFile: string | undefined,
  random: Random,
): Promise<string> {
  const file = kanboard.webhookTokenFile ?? tokenFile;
  const given = kanboard.webhookToken ?? (await textOf(resolve(home, file ?? own)));
  if (given !== undefined) return given;
  if (file !== undefined) {
    throw new InvalidValueError(
      `${resolve(home, file)} holds no token. Put one into it that the webhook of the Kanboard has, too.`,
      'board.kanboard.webhook.tokenFile',
    );
  }
  const token = random.hex(24);
  await writeFileAtomically(own, `${token}\n`, 0o600);
  return token;
}

async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
