import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { availableService } from './service.ts';

const run = promisify(execFile);
const readyWithinMs = 20_000;
/** Of the cluster; it may do everything. */
const user = 'kb';

/** A cluster of our own below a folder, on a Unix socket in that folder only. */
export interface PostgresCluster {
  /** `postgres://…` for Kanboard and everybody else who decodes its parts. */
  readonly url: string;
  /** Starts it and waits until it answers. */
  start(): Promise<void>;
  /** Its first process; undefined while it does not run. */
  pid(): number | undefined;
  /** Resolves when its first process is gone. */
  ended(): Promise<void>;
  /** Ends it as an operator does, with everything on disk. */
  shutDown(): Promise<void>;
  /** Runs statements as the database's owner; gives the rows without headings. */
  psql(sql: string): Promise<string>;
}

/** Makes an empty cluster with the database `kanboard` in `folder`. It does not run. */
export async function createCluster(folder: string): Promise<PostgresCluster> {
  mkdirSync(folder, { recursive: true });
  const owner = clusterOwner();
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  // Small segments, and no sync while it is made: it will be copied.
  await run(
    program('initdb'),
    [
      ...['-D', join(folder, 'data'), '-U', user, '--auth=trust', '-E', 'UTF8'],
      ...['--locale=C.UTF-8', '--no-instructions', '--no-sync', '--wal-segsize=1'],
    ],
    { cwd: folder, env: environment(), ...owner },
  );
  const cluster = clusterIn(folder);
  await cluster.start();
  await run(program('createdb'), ['-h', folder, '-U', user, 'kanboard'], { env: environment() });
  return cluster;
}

/** The cluster that lies in `folder`. */
export function clusterIn(folder: string): PostgresCluster {
  let server: ChildProcess | undefined;
  let exited: Promise<unknown> = Promise.resolve();
  return {
    url: `postgres://${user}@${encodeURIComponent(folder)}:5432/kanboard`,
    async start() {
      server = spawnServer(folder);
      exited = once(server, 'exit');
      await untilReady(folder, server);
    },
    pid: () => (server?.exitCode === null && server.signalCode === null ? server.pid : undefined),
    async ended() {
      await exited;
    },
    async shutDown() {
      server?.kill('SIGINT');
      await exited;
    },
    async psql(sql) {
      const rows = ['-h', folder, '-U', user, '-d', 'kanboard', '-XAtq', '-v', 'ON_ERROR_STOP=1'];
      const { stdout } = await run(program('psql'), [...rows, '-c', sql], { env: environment() });
      return stdout.trimEnd();
    },
  };
}

function spawnServer(folder: string): ChildProcess {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    // An acknowledged write is on disk: what a killed cluster still knows is what tests are about.
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '32MB',
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const log = openSync(join(folder, '../postgres.log'), 'a');
  const server = spawn(program('postgres'), ['-D', join(folder, 'data'), ...flags], {
    cwd: folder,
    // Out of the terminal's group: Ctrl-C must reach whoever ends it in order.
    detached: true,
    stdio: ['ignore', log, log],
    env: environment(),
    ...clusterOwner(),
  });
  closeSync(log);
  return server;
}

async function untilReady(folder: string, server: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + readyWithinMs;
  for (;;) {
    const ready = await run(program('pg_isready'), ['-h', folder, '-q'], {
      env: environment(),
    }).then(
      () => true,
      () => false,
    );
    if (ready) return;
    if (server.exitCode !== null || performance.now() > deadlineMs) break;
    await sleep(20);
  }
  const said = readFileSync(join(folder, '../postgres.log'), 'utf8').slice(-2_000);
  throw new Error(`PostgreSQL did not get ready. The end of its log:\n${said}`);
}

const program = (name: string): string => join(availableService('postgres').path, name);

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...availableService('postgres').env,
});

/** PostgreSQL refuses to run as root; then it runs as the user that its package made, or as nobody. */
function clusterOwner(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(users) ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody.');
}
