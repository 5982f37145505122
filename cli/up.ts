import { join } from 'node:path';
import type { Hono } from 'hono';
import { initHome } from '../cards/registry/init-home.ts';
import { MeshError } from '../fabric/domain/errors.ts';
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
import {
  ownerBoard,
  workerBoard,
  type DaemonBoard,
  type DaemonBoardOptions,
} from './daemon-board.ts';
import { hasHome, homePaths, keepPrivate, type HomePaths } from './home.ts';
import { servingCommand } from './home-in-use.ts';
import type { KanboardAccess } from './kanboard-access.ts';
import { firstLook, tellOwn } from './kanboard-home.ts';
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
  /** As `isBoardName` takes it; default: mesh.yaml. */
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
  await closingAfter(async (closers) => {
    const board = await ownerBoard(boardOptions(ground, options, servingCommand, closers));
    const host = options.host ?? config.front.host;
    const listening: Listening[] = [];
    closers.add(() => closeEach(listening));
    let url = '';
    const mesh = await compose(ground, board, { publicUrl: () => config.front.publicUrl ?? url });
    closers.add(() => mesh.stop());
    if (mesh.kanboard) {
      await firstLook(mesh.kanboard, systemClock, (text) => {
        say(options, text);
      });
    }
    if (mesh.access?.own) await layOutOwn(ground, mesh.access, options, closers);
    const front = await listen(mesh.front, host, options.port ?? config.front.port);
    listening.push(front);
    url = front.url;
    // It takes a moment and is a hint only: nobody waits for it.
    if (mesh.access) void tellOwn(mesh.access, url, ground.log);
    const frozen = await mesh.board.frozen?.();
    if (options.ports) await listenEach(mesh, host, ground, listening);
    mesh.start();
    const { gatewayUrl } = config;
    await board.lock?.describe({
      ...{ pid: process.pid, command: servingCommand, url },
      ...(gatewayUrl === undefined ? {} : { gatewayUrl }),
    });
    const readyMs = Math.round(systemClock.monotonicMs() - startedMs);
    const facts = {
      url,
      agents: mesh.agents(),
      home: paths.home,
      board: mesh.access?.webUrl,
      frozen,
      ...(mesh.access?.own && { boardLogin: loginOf(config.defaultHuman, paths) }),
      readyMs,
    };
    const { isTTY: outIsTty, columns } = process.stdout;
    const shown = { ...facts, most: widthOf({ outIsTty, columns }) };
    process.stdout.write(options.json ? `${JSON.stringify(facts)}\n` : `${readyText(shown)}\n`);
    await aborted(options.signal);
    say(options, 'Stopping: running work is handed back or put on record.');
  });
}

/** How the operator gets into a board of the mesh's own. */
const loginOf = (user: string, { boardPasswords }: HomePaths) => ({
  user,
  passwordFile: join(boardPasswords, `${user}.password`),
});

/** A board that nobody set up by hand has its projects, its users and their passwords from us. */
async function layOutOwn(
  ground: Ground,
  access: KanboardAccess,
  options: DaemonOptions,
  closers: Closers,
): Promise<void> {
  say(options, 'Kanboard: looking after its projects and users');
  const { setUpForCards } = await import('./board/setup.ts');
  const on = { clock: systemClock, random: systemRandom };
  const steps = await setUpForCards(on, { ...ground, access }, closers);
  for (const { about, verdict, says } of steps) {
    if (verdict === 'warn' || verdict === 'fail') say(options, `Kanboard: ${about}: ${says}`);
  }
}

/** `mesh serve <agent>`: one persona on a port of its own, a worker of the mesh's board. */
export async function serve(options: DaemonOptions & { readonly agentId: string }): Promise<void> {
  const { agentId } = options;
  const ground = await groundOf(options);
  await closingAfter(async (closers) => {
    const on = boardOptions(ground, options, 'mesh serve', closers);
    const board = await workerBoard(on, agentId);
    let url = '';
    const listening: Listening[] = [];
    closers.add(() => closeEach(listening));
    const mesh = await compose(ground, board, {
      // Its own port serves nobody but itself.
      publicUrl: () => othersAt(board, ground),
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
    const facts = { agentId, url, board: board.name };
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
    const board = await workerBoard(boardOptions(ground, options, 'mesh keeper', closers));
    const mesh = await compose(ground, board, {
      publicUrl: () => othersAt(board, ground),
      serves: () => false,
    });
    closers.add(() => mesh.stop());
    mesh.start({ keeper: true });
    process.stdout.write(
      options.json ? '{"ready":true}\n' : `ready: keeper of ${keptBy(board, ground)}\n`,
    );
    await aborted(options.signal);
  });
}

/** Where the others are served: a Kanboard says nothing of that, the settings may. */
const othersAt = ({ remote, parts }: DaemonBoard, { config }: Ground): string | undefined =>
  remote ?? (parts.kanboard ? config.front.publicUrl : undefined);

const keptBy = ({ remote, parts, name }: DaemonBoard, { paths }: Ground): string =>
  remote ?? (parts.kanboard ? name : paths.home);

type Wiring = Pick<ComposeOptions, 'publicUrl' | 'serves' | 'addressOf'>;

const compose = (ground: Ground, { parts }: DaemonBoard, wiring: Wiring): Promise<Mesh> =>
  composeMesh({ ...ground, ...parts, ...wiring, clock: systemClock, random: systemRandom, fetch });

/** What says where the board of a daemon is. */
const boardOptions = (
  ground: Ground,
  options: DaemonOptions,
  command: string,
  closers: Closers,
): DaemonBoardOptions => ({
  ...{ ...ground, board: options.board, token: options.token, command, closers },
  say: (text) => {
    say(options, text);
  },
  signal: options.signal,
});

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
