import type { Hono } from 'hono';
import { initHome } from '../cards/registry/init-home.ts';
import { MeshError } from '../fabric/domain/errors.ts';
import { lockHome, type HomeLock } from '../fabric/embedded/home-lock.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import { remoteBoard } from '../fabric/remote/remote-board.ts';
import { pinoLog } from '../fabric/telemetry/pino-log.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../fabric/telemetry/system-random.ts';
import { closingAfter, type Closers } from './closers.ts';
import { composeMesh, type ComposeOptions, type Mesh } from './compose.ts';
import {
  loadConfig,
  loadEnvironment,
  logLevelOf,
  type Environment,
  type MeshConfig,
} from './config.ts';
import { hasHome, homePaths, keepPrivate, type HomePaths } from './home.ts';
import { homeInUse, servingCommand } from './home-in-use.ts';
import { listen, type Listening } from './listen.ts';
import { readyText } from './ready-text.ts';
import { widthOf } from './terminal.ts';

/** What a daemon takes from the command line. */
export interface DaemonOptions {
  readonly home?: string;
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly host?: string;
  readonly port?: number;
  /** `embedded` or `mesh:<url>`. */
  readonly board?: string;
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Aborts at Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** Everything a daemon begins with. */
interface Ground {
  readonly environment: Environment;
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly log: ReturnType<typeof pinoLog>;
}

const say = (options: DaemonOptions, text: string): void => {
  if (!options.quiet) process.stderr.write(`${text}\n`);
};

async function groundOf(options: DaemonOptions): Promise<Ground> {
  keepPrivate();
  const environment = loadEnvironment();
  const paths = homePaths(options.home ?? environment.home);
  if (!hasHome(paths)) {
    say(options, `No mesh home at ${paths.home}: making one from the catalog.`);
    await initHome({ dir: paths.home, human: 'operator', environment: environment.all });
  }
  const config = await loadConfig(paths.home, environment);
  const level = options.logLevel ?? logLevelOf(environment) ?? 'warn';
  return { environment, paths, config, log: pinoLog({ level }) };
}

/**
 * `mesh up`: personas, workers, keeper and front in one process, until `signal`. A home is made on
 * first use. Resolves when everything is handed back or on record.
 * @throws MeshError `FABRIC_DOWN` when somebody else holds the home or the port is taken
 */
export async function up(options: DaemonOptions & { readonly ports?: boolean }): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  const ground = await groundOf(options);
  const { paths, config } = ground;
  const remote = boardUrl(options);
  await closingAfter(async (closers) => {
    const lock = remote === undefined ? await ownHome(paths, servingCommand) : undefined;
    closers.add(() => lock?.release());
    const host = options.host ?? config.front.host;
    const listening: Listening[] = [];
    closers.add(() => closeEach(listening));
    let url = '';
    const mesh = await compose(ground, options, {
      publicUrl: () => config.front.publicUrl ?? url,
      remote,
    });
    closers.add(() => mesh.stop());
    const front = await listen(mesh.front, host, options.port ?? config.front.port);
    listening.push(front);
    url = front.url;
    if (options.ports) await listenEach(mesh, host, ground, listening);
    mesh.start();
    const { gatewayUrl } = config;
    await lock?.describe({
      ...{ pid: process.pid, command: servingCommand, url },
      ...(gatewayUrl === undefined ? {} : { gatewayUrl }),
    });
    const readyMs = Math.round(systemClock.monotonicMs() - startedMs);
    const facts = { url, agents: mesh.agents(), home: paths.home, readyMs };
    const { isTTY: outIsTty, columns } = process.stdout;
    const shown = { ...facts, most: widthOf({ outIsTty, columns }) };
    process.stdout.write(options.json ? `${JSON.stringify(facts)}\n` : `${readyText(shown)}\n`);
    await aborted(options.signal);
    say(options, 'Stopping: running work is handed back or put on record.');
  });
}

/** `mesh serve <agent>`: one persona on a port of its own, a worker of the mesh's board. */
export async function serve(options: DaemonOptions & { readonly agentId: string }): Promise<void> {
  const { agentId } = options;
  const ground = await groundOf(options);
  await closingAfter(async (closers) => {
    const remote = await boardOf(options, ground, 'mesh serve', closers);
    let url = '';
    const listening: Listening[] = [];
    closers.add(() => closeEach(listening));
    const mesh = await compose(ground, options, {
      // Its own port serves nobody but itself.
      publicUrl: () => remote,
      remote,
      serves: (id) => id === agentId,
      addressOf: () => `${url}/`,
    });
    closers.add(() => mesh.stop());
    const service = mesh.serviceOf(agentId);
    if (service === undefined) {
      throw new MeshError('NOT_FOUND', `No Card names ${agentId}. See: mesh cards list`);
    }
    const host = options.host ?? ground.config.front.host;
    const own = await listenFree(service, host, options.port ?? portOf(mesh, agentId));
    listening.push(own);
    url = own.url;
    mesh.start({ keeper: false });
    const facts = { agentId, url, board: remote ?? 'embedded' };
    process.stdout.write(
      options.json
        ? `${JSON.stringify(facts)}\n`
        : `ready: ${agentId} at ${url}/, board ${facts.board}\n`,
    );
    await aborted(options.signal);
  });
}

/** `mesh keeper`: time alone, on the home's board or another mesh's. */
export async function runKeeper(options: DaemonOptions): Promise<void> {
  const ground = await groundOf(options);
  await closingAfter(async (closers) => {
    const remote = await boardOf(options, ground, 'mesh keeper', closers);
    const mesh = await compose(ground, options, {
      publicUrl: () => remote,
      remote,
      serves: () => false,
    });
    closers.add(() => mesh.stop());
    mesh.start({ keeper: true });
    process.stdout.write(
      options.json ? '{"ready":true}\n' : `ready: keeper of ${remote ?? ground.paths.home}\n`,
    );
    await aborted(options.signal);
  });
}

interface Wiring {
  readonly publicUrl: ComposeOptions['publicUrl'];
  readonly remote: string | undefined;
  readonly serves?: (agentId: string) => boolean;
  readonly addressOf?: (agentId: string) => string;
}

async function compose(ground: Ground, options: DaemonOptions, wiring: Wiring): Promise<Mesh> {
  const { remote, ...rest } = wiring;
  const board = remote === undefined ? undefined : await boardAt(remote, ground, options);
  return composeMesh({
    ...ground,
    ...rest,
    ...(board ? { board } : {}),
    clock: systemClock,
    random: systemRandom,
    fetch,
  });
}

const boardUrl = ({ board }: DaemonOptions): string | undefined =>
  board?.startsWith('mesh:') ? board.slice('mesh:'.length).replace(/\/+$/, '') : undefined;

async function boardAt(url: string, ground: Ground, options: DaemonOptions): Promise<TaskBoard> {
  const { readFile } = await import('node:fs/promises');
  const own = () => readFile(ground.paths.operatorToken, 'utf8').catch(() => '');
  const token = options.token ?? ground.environment.token ?? (await own()).trim();
  if (token === '') {
    throw new MeshError(
      'UNAUTHENTICATED',
      `The board at ${url} needs a token with the scope tasks:work: give --token or MESH_TOKEN.`,
    );
  }
  return remoteBoard({
    url,
    authorization: () => Promise.resolve(`Bearer ${token}`),
    fetch,
    clock: systemClock,
  });
}

/** The home for this process alone. */
async function ownHome(paths: HomePaths, command: string): Promise<HomeLock> {
  const lock = await lockHome(paths.lock, { pid: process.pid, command });
  if (lock.kind === 'locked') return lock;
  const { holder } = lock;
  const who = holder
    ? `${holder.command}, process ${holder.pid}${holder.url ? `, ${holder.url}` : ''}`
    : 'another process';
  throw new MeshError(
    'FABRIC_DOWN',
    `The mesh home ${paths.home} is in use (${who}). Stop that one, or name another home with --home.`,
  );
}

/**
 * The address of the front whose board is worked on: the one that was named, else that of whoever owns the
 * home. Undefined when the home was free and is ours until `closers` close.
 */
async function boardOf(
  options: DaemonOptions,
  { paths }: Ground,
  command: string,
  closers: Closers,
): Promise<string | undefined> {
  const named = boardUrl(options);
  if (named !== undefined) return named;
  const lock = await lockHome(paths.lock, { pid: process.pid, command });
  if (lock.kind === 'locked') {
    closers.add(() => {
      lock.release();
    });
    return undefined;
  }
  if (lock.holder?.url === undefined) throw homeInUse(paths.home, lock.holder);
  return lock.holder.url;
}

const firstOwnPort = 4701;

function portOf(mesh: Mesh, agentId: string): number {
  return mesh.registry.card(agentId)?.port ?? firstOwnPort;
}

/** The first free port from `port` on. */
async function listenFree(app: Hono, host: string, port: number): Promise<Listening> {
  for (let tried = port; ; tried++) {
    try {
      return await listen(app, host, tried);
    } catch (error) {
      if (port === 0 || tried >= port + 200) throw error;
    }
  }
}

async function listenEach(
  mesh: Mesh,
  host: string,
  { log }: Ground,
  listening: Listening[],
): Promise<void> {
  for (const { agentId } of mesh.agents()) {
    const service = mesh.serviceOf(agentId);
    if (service === undefined) continue;
    const one = await listenFree(service, host, portOf(mesh, agentId));
    log.info('persona.listening', { agent: agentId, url: one.url });
    listening.push(one);
  }
}

async function closeEach(listening: readonly Listening[]): Promise<void> {
  await Promise.all(listening.map((one) => one.close()));
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
