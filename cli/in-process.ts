import { readFile } from 'node:fs/promises';
import { InvalidValueError, MeshError } from '../fabric/domain/errors.ts';
import { lockHome } from '../fabric/embedded/home-lock.ts';
import { remoteBoard } from '../fabric/remote/remote-board.ts';
import { pinoLog } from '../fabric/telemetry/pino-log.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../fabric/telemetry/system-random.ts';
import { boardChoiceOf } from './board-choice.ts';
import type { KanboardSettings } from './board-settings.ts';
import { closingOnFailure, type Closers } from './closers.ts';
import { loadConfig, loadEnvironment, logLevelOf, type Environment } from './config.ts';
import { hasHome, homePaths, keepPrivate, type HomePaths } from './home.ts';
import { homeInUse } from './home-in-use.ts';
import type { MeshConnection, MeshOptions } from './mesh-connection.ts';

/**
 * Opens the mesh of `options`: the front that runs, else one in this process under the home's lock
 * (ADR 0005). See `OpenMesh` for what it throws.
 */
export async function openMesh(options: MeshOptions): Promise<MeshConnection> {
  const environment = loadEnvironment();
  const paths = homePaths(options.home ?? environment.home);
  const url = options.url ?? environment.url;
  if (url !== undefined) {
    requireAddress(url, options.url === undefined ? 'MESH_URL' : '--url');
    return connectTo(trimmed(url), paths, options, environment);
  }
  if (!hasHome(paths)) throw noHome(paths);
  keepPrivate();
  const command = options.verb === undefined ? 'mesh' : `mesh ${options.verb}`;
  const lock = await lockHome(paths.lock, { pid: process.pid, command });
  if (lock.kind === 'locked') {
    return closingOnFailure((closers) => {
      closers.add(() => {
        lock.release();
      });
      return openHere(paths, environment, options, closers);
    });
  }
  const holder = lock.holder;
  if (holder?.url !== undefined) return connectTo(trimmed(holder.url), paths, options, environment);
  throw homeInUse(paths.home, holder);
}

function requireAddress(url: string, source: string): void {
  if (URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol)) return;
  throw new InvalidValueError(
    `${source} "${url}" is no address. Write it as http://127.0.0.1:4700.`,
    'url',
  );
}

const trimmed = (url: string): string => url.replace(/\/+$/, '');

function noHome(paths: HomePaths): MeshError {
  return new MeshError(
    'NOT_FOUND',
    `There is no mesh home at ${paths.home}. Make one with: mesh init, or name one with --home or --url.`,
    { path: 'home' },
  );
}

async function connectTo(
  url: string,
  paths: HomePaths,
  options: MeshOptions,
  environment: Environment,
): Promise<MeshConnection> {
  const token = options.token ?? environment.token ?? (await ownToken(paths));
  if (token === undefined) {
    throw new MeshError(
      'UNAUTHENTICATED',
      `No token for ${url}. Give one with --token or MESH_TOKEN, or use the home it belongs to with --home.`,
    );
  }
  const principal = await principalBehind(url, token, fetch);
  const board = boardAt(url, token, fetch);
  return {
    home: paths.home,
    url,
    token,
    principal,
    fetch: (input, init) => fetch(input, init),
    board,
    inProcess: false,
    close: () => board.close(),
  };
}

/** The front without a socket, in this process; nothing is drained and no time is kept. */
async function openHere(
  paths: HomePaths,
  environment: Environment,
  options: MeshOptions,
  closers: Closers,
): Promise<MeshConnection> {
  // Only here: a command that has a front to talk to must not pay for building one.
  const { composeMesh } = await import('./compose.ts');
  const config = await loadConfig(paths.home, environment);
  const choice = boardChoiceOf(undefined, config);
  const url = `http://${config.front.host}:${config.front.port}`;
  const accessOf = async (settings: KanboardSettings) => {
    const { kanboardAccess } = await import('./kanboard-access.ts');
    return kanboardAccess(settings, { paths, environment, random: systemRandom });
  };
  const call: typeof fetch = (input, init) =>
    Promise.resolve(mesh.front.fetch(new Request(input, init)));
  const mesh = await composeMesh({
    paths,
    config,
    environment,
    clock: systemClock,
    random: systemRandom,
    // What goes wrong is the command's own error line.
    log: pinoLog({ level: logLevelOf(environment) ?? 'silent' }),
    publicUrl: () => config.front.publicUrl ?? url,
    fetch: call,
    ...(choice.kind === 'kanboard' ? { kanboard: () => accessOf(choice.settings) } : {}),
  });
  closers.add(() => mesh.stop());
  const token = options.token ?? environment.token ?? mesh.token;
  const board = boardAt(url, token, call);
  closers.add(() => board.close());
  return {
    home: paths.home,
    url,
    token,
    principal: await principalBehind(url, token, call),
    fetch: (input, init) => call(input, init),
    board,
    inProcess: true,
    isShared: choice.kind === 'kanboard',
    close: () => closers.closeAll(),
  };
}

function boardAt(url: string, token: string, call: typeof fetch) {
  return remoteBoard({
    url,
    authorization: () => Promise.resolve(`Bearer ${token}`),
    fetch: (address, init) => call(address, init),
    clock: systemClock,
  });
}

async function ownToken(paths: HomePaths): Promise<string | undefined> {
  const text = await readFile(paths.operatorToken, 'utf8').catch(() => undefined);
  return text?.trim();
}

/** Whom the front takes this token for; the command shows and addresses things by it. */
async function principalBehind(url: string, token: string, call: typeof fetch): Promise<string> {
  const answer = await call(`${url}/whoami`, {
    headers: { authorization: `Bearer ${token}` },
  }).catch((cause: unknown) => {
    throw new MeshError(
      'FABRIC_DOWN',
      `No mesh answers at ${url}. Start it with: mesh up`,
      {},
      { cause },
    );
  });
  if (answer.status === 401) {
    throw new MeshError(
      'UNAUTHENTICATED',
      `${url} does not take this token. Make one: mesh token create.`,
    );
  }
  const body: unknown = await answer.json().catch(() => undefined);
  const id = (body as { principal?: unknown } | undefined)?.principal;
  if (answer.ok && typeof id === 'string') return id;
  throw new MeshError('FABRIC_DOWN', `What answers at ${url} is no mesh (HTTP ${answer.status}).`);
}
