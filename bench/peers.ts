import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { levels, rateOf, type LifeCycles } from './life-cycle.ts';

/** Life cycles a second by tasks in flight. */
export type Rates = Map<number, number>;

export interface PeerRates {
  readonly name: string;
  readonly version: string;
  readonly rates?: Rates;
  /** Why there are no rates. */
  readonly reason?: string;
}

const run = promisify(execFile);
const body = 'Read the access log of last night and say what looks wrong. '.repeat(5);
/** PostgreSQL's own default is 100 connections; past these a peer gains nothing on two cores. */
const connections = 64;

/** The peers' packages, as narrow as they are used; installed by `npm ci --prefix bench` only. */
interface Boss {
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): void;
  createQueue(name: string): Promise<void>;
  send(name: string, data: object): Promise<string | null>;
  fetch(name: string): Promise<readonly { id: string }[]>;
  complete(name: string, id: string): Promise<void>;
}
interface BossModule {
  readonly default: new (options: object) => Boss;
}
interface GraphileRunner {
  readonly events: { on(event: 'job:complete', listener: (end: GraphileEnd) => void): void };
  addJob(name: string, payload: object): Promise<unknown>;
  stop(): Promise<void>;
}
interface GraphileEnd {
  readonly job: { readonly payload: { readonly n: number } };
  readonly error: unknown;
}
interface GraphileModule {
  run(options: object): Promise<GraphileRunner>;
  readonly Logger: new (factory: () => () => void) => object;
}
interface Failing {
  on(event: 'error', listener: (error: Error) => void): void;
}
interface PgPool extends Failing {
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'connect', listener: (client: Failing) => void): void;
  end(): Promise<void>;
}
interface PgModule {
  readonly default: { readonly Pool: new (options: object) => PgPool };
}

/** Where a PostgreSQL of ours answers. */
interface Postgres {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/**
 * pg-boss and graphile-worker on a PostgreSQL of their own on the same disk, `fsync=on`, one claim a
 * job. A life cycle of theirs is send, fetch, complete: one durable step fewer than ours.
 */
export async function peerRates(
  folder: string,
  inFlight: readonly number[] = levels,
): Promise<PeerRates[]> {
  const names = ['pg-boss', 'graphile-worker'] as const;
  const leftOut = (reason: string) => names.map((name) => ({ name, version: '', reason }));
  const peers = join(import.meta.dirname, 'node_modules');
  if (!existsSync(join(peers, 'pg-boss'))) return leftOut('install it by: npm ci --prefix bench');
  const binaries = await postgresBinaries();
  if (binaries === undefined) return leftOut('there is no PostgreSQL on this machine');
  const { postgres, version, stop } = await startPostgres(binaries, join(folder, 'postgres'));
  try {
    return [
      await ratesOf('pg-boss', version, inFlight, () => pgBoss(postgres)),
      await ratesOf('graphile-worker', version, inFlight, () => graphile(postgres)),
    ];
  } finally {
    await stop();
  }
}

type OpenPeer = () => Promise<{
  cycles: (level: number) => Promise<LifeCycles>;
  end: () => Promise<void>;
}>;

async function ratesOf(
  name: string,
  postgres: string,
  inFlight: readonly number[],
  open: OpenPeer,
): Promise<PeerRates> {
  const manifest = join(import.meta.dirname, 'node_modules', name, 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const { cycles, end } = await open();
  const rates: Rates = new Map();
  for (const level of inFlight) rates.set(level, await rateOf(await cycles(level), level));
  await end();
  return { name, version: `${version}, ${postgres}`, rates };
}

async function pgBoss(postgres: Postgres) {
  const name = 'pg-boss'; // a variable: the root's type check does not know the peers
  const { default: PgBoss } = (await import(name)) as BossModule;
  const boss = new PgBoss({ ...postgres, max: connections, supervise: false, schedule: false });
  boss.on('error', console.error);
  await boss.start();
  await boss.createQueue('bench');
  const lane = async (isOver: () => boolean): Promise<number> => {
    let ended = 0;
    while (!isOver()) {
      await boss.send('bench', { title: 'Audit the log', body });
      let [job] = await boss.fetch('bench');
      while (job === undefined) [job] = await boss.fetch('bench');
      await boss.complete('bench', job.id);
      ended += 1;
    }
    return ended;
  };
  const cycles: LifeCycles = async (inFlight, isOver) => {
    const lanes = await Promise.all(Array.from({ length: inFlight }, () => lane(isOver)));
    return lanes.reduce((sum, ended) => sum + ended, 0);
  };
  return { cycles: () => Promise.resolve(cycles), end: () => boss.stop({ graceful: false }) };
}

async function graphile(postgres: Postgres) {
  const [worker, pg] = ['graphile-worker', 'pg']; // variables, as above
  const { run: start, Logger } = (await import(worker)) as GraphileModule;
  const {
    default: { Pool },
  } = (await import(pg)) as PgModule;
  const pgPool = new Pool({ ...postgres, max: connections });
  pgPool.on('error', console.error);
  pgPool.on('connect', (client) => client.on('error', console.error));
  let runner: GraphileRunner | undefined;
  const waiting = new Map<number, () => void>();
  let last = 0;
  const cycles = async (concurrency: number): Promise<LifeCycles> => {
    await runner?.stop();
    runner = await start({
      pgPool,
      concurrency,
      noHandleSignals: true,
      logger: new Logger(() => () => undefined),
      taskList: { bench: () => Promise.resolve() },
    });
    const { events, addJob } = runner;
    events.on('job:complete', ({ job }) => {
      waiting.get(job.payload.n)?.();
      waiting.delete(job.payload.n);
    });
    const lane = async (isOver: () => boolean): Promise<number> => {
      let ended = 0;
      while (!isOver()) {
        const n = ++last;
        const done = new Promise<void>((resolve) => waiting.set(n, resolve));
        await addJob('bench', { n, title: 'Audit the log', body });
        await done;
        ended += 1;
      }
      return ended;
    };
    return async (inFlight, isOver) => {
      const lanes = await Promise.all(Array.from({ length: inFlight }, () => lane(isOver)));
      return lanes.reduce((sum, ended) => sum + ended, 0);
    };
  };
  return {
    cycles,
    async end() {
      await runner?.stop();
      await pgPool.end();
    },
  };
}

/** The folder of `initdb` and `postgres`: Debian's, newest first, else one on the path. */
async function postgresBinaries(): Promise<string | undefined> {
  const debian = '/usr/lib/postgresql';
  const versions = await readdir(debian).catch(() => []);
  const folders = [
    ...versions
      .sort((one, other) => Number(other) - Number(one))
      .map((v) => join(debian, v, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  );
}

/** PostgreSQL refuses to run as root; then it runs as the user its package made. */
function asPostgres(file: string, args: readonly string[]): [string, string[]] {
  if (process.getuid?.() !== 0) return [file, [...args]];
  return ['runuser', ['-u', 'postgres', '--', file, ...args]];
}

async function startPostgres(binaries: string, folder: string) {
  await mkdir(folder, { recursive: true });
  // Another user has to get in, who otherwise may not pass the bench's own folder.
  await chmod(join(folder, '..'), 0o755);
  await chmod(folder, 0o777);
  const data = join(folder, 'data');
  const call = (file: string, args: readonly string[]) => {
    const [command, all] = asPostgres(join(binaries, file), args);
    return run(command, all, { cwd: folder });
  };
  await call('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-instructions',
  ]);
  const { stdout } = await call('postgres', ['--version']);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: 'on',
    max_connections: 200,
    shared_buffers: '256MB',
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const [command, args] = asPostgres(join(binaries, 'postgres'), ['-D', data, ...flags]);
  const server: ChildProcess = spawn(command, args, { cwd: folder, stdio: 'ignore' });
  const port = 5_432;
  const postgres: Postgres = { host: folder, port, user: 'postgres', database: 'postgres' };
  await untilReady(binaries, folder, port, server);
  // By pg_ctl, since runuser does not pass a signal on.
  const stop = () => call('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
  return {
    stop,
    postgres,
    version: stdout.trim().replace('postgres (PostgreSQL)', 'PostgreSQL'),
  };
}

async function untilReady(binaries: string, folder: string, port: number, server: ChildProcess) {
  for (let tries = 0; tries < 200; tries++) {
    const ready = await run(join(binaries, 'pg_isready'), [
      '-h',
      folder,
      '-p',
      `${port}`,
      '-q',
    ]).then(
      () => true,
      () => false,
    );
    if (ready) return;
    if (server.exitCode !== null) break;
    await after(50);
  }
  throw new Error('PostgreSQL did not get ready within 10 s. Start it by hand to see why.');
}
