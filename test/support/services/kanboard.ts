import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { clusterIn, createCluster, type PostgresCluster } from './postgres.ts';
import { killTree, pauseTree, resumeTree } from './process-tree.ts';
import { availableService } from './service.ts';

const run = promisify(execFile);
const script = join(import.meta.dirname, '../../../deploy/kanboard/kanboard-dev.sh');
const portTaken = 4;

export interface Webhook {
  readonly url: string;
  readonly token: string;
}

export interface KanboardOptions {
  readonly database: 'sqlite' | 'postgres';
  /** PHP workers: 1 on SQLite, 4 on PostgreSQL unless given. */
  readonly workers?: number;
  readonly webhook?: Webhook;
}

export interface RunningKanboard {
  /** Of the API: `http://127.0.0.1:<port>/jsonrpc.php`. */
  readonly url: string;
  /** What people open: `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly baseUrl: string;
  /** The application's; the user of Basic authentication is `jsonrpc`. */
  readonly token: string;
  /** Of the user `admin`. */
  readonly adminPassword: string;
  readonly database: 'sqlite' | 'postgres';
  readonly dataDir: string;
  /** From the call of `startKanboard` to the first good answer. */
  readonly readyMs: number;
  setWebhook(webhook: Webhook): Promise<void>;
  /** Of a user that is there: a password, a personal API token, or both. */
  setUser(name: string, secrets: { password?: string; token?: string }): Promise<void>;
  /** SIGKILL for PHP, server, pooler and database at one instant. `restart` brings it back. */
  kill(): Promise<void>;
  /** Starts it on its port and data again, in whatever state it is; gives the ms until it answered. */
  restart(): Promise<number>;
  /** SIGSTOP for all of it: connections are still taken, by the kernel, and nothing answers. */
  pause(): void;
  resume(): void;
  /** Ends it and deletes its data. */
  stop(): Promise<void>;
  /** Statements straight to PostgreSQL. Not there on SQLite. */
  readonly psql?: (sql: string) => Promise<string>;
}

/**
 * Starts a real Kanboard on a free loopback port with data of its own: on SQLite with PHP's own
 * server, on PostgreSQL (a cluster of its own, fsync on) with pgbouncer in session mode, fpm and
 * nginx. What is not stopped ends with this process, however that dies. Takes about half a second
 * on SQLite and one on PostgreSQL.
 */
export async function startKanboard(options: KanboardOptions): Promise<RunningKanboard> {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'mesh-kanboard-'));
  // The user that PostgreSQL runs as has to pass.
  chmodSync(folder, 0o711);
  const guardian = spawnGuardian(folder);
  try {
    const cluster = options.database === 'postgres' ? await newCluster(folder) : undefined;
    const secrets = { token: randomBytes(16).toString('hex'), adminPassword: 'mesh-test-admin' };
    const instance = instanceIn(folder, options, secrets, cluster);
    await instance.start(options.webhook);
    const readyMs = performance.now() - startedMs;
    return running(instance, { ...options, ...secrets, readyMs, stop: guardian.finish }, cluster);
  } catch (error) {
    await guardian.finish();
    throw error;
  }
}

/** One Kanboard of the script, on a port of its own from its first start on. */
interface Instance {
  readonly dataDir: string;
  port(): number;
  start(webhook?: Webhook): Promise<void>;
  stop(): Promise<void>;
  setUser(name: string, secrets: { password?: string; token?: string }): Promise<void>;
}

interface Secrets {
  readonly token: string;
  readonly adminPassword: string;
}

function instanceIn(
  folder: string,
  { database, workers }: KanboardOptions,
  { token, adminPassword }: Secrets,
  cluster: PostgresCluster | undefined,
): Instance {
  const dataDir = join(folder, 'kanboard');
  const env = { KANBOARD_TOKEN: token, KANBOARD_ADMIN_PASSWORD: adminPassword };
  const pooler = existsSync(join(kanboardHome(), 'root/usr/sbin/pgbouncer'));
  const server =
    database === 'sqlite' ? [] : ['--server', 'fpm', ...(pooler ? ['--pgbouncer'] : [])];
  const count = workers === undefined ? [] : ['--workers', String(workers)];
  let port: number | undefined;
  const call = (verb: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    callScript([...verb, '--data', dataDir], {
      ...env,
      ...(cluster ? { KANBOARD_DATABASE_URL: cluster.url } : {}),
      ...more,
    });
  return {
    dataDir,
    port: () => port ?? 0,
    async start(webhook) {
      const settings = webhook && {
        KANBOARD_WEBHOOK_URL: webhook.url,
        KANBOARD_WEBHOOK_TOKEN: webhook.token,
      };
      // A port that was free may be taken by the time it is listened on; once it is ours it stays.
      for (let tries = 0; ; tries++) {
        const tried = port ?? (await freePort());
        try {
          await call(['start', '--port', String(tried), ...server, ...count], settings);
          port = tried;
          return;
        } catch (error) {
          if (port !== undefined || tries === 4 || exitCodeOf(error) !== portTaken) throw error;
        }
      }
    },
    async stop() {
      await call(['stop']);
    },
    async setUser(name, { password, token: personal }) {
      await call(['user', name], {
        ...(password === undefined ? {} : { KANBOARD_USER_PASSWORD: password }),
        ...(personal === undefined ? {} : { KANBOARD_USER_TOKEN: personal }),
      });
    },
  };
}

interface Facts extends Secrets {
  readonly database: 'sqlite' | 'postgres';
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
}

function running(
  instance: Instance,
  facts: Facts,
  cluster: PostgresCluster | undefined,
): RunningKanboard {
  const { database, token, adminPassword, readyMs, stop } = facts;
  const baseUrl = `http://127.0.0.1:${instance.port()}`;
  const roots = (): readonly number[] => [
    ...serverPids(instance.dataDir),
    ...[cluster?.pid()].filter((pid) => pid !== undefined),
  ];
  return {
    ...{ url: `${baseUrl}/jsonrpc.php`, baseUrl, token, adminPassword, database, readyMs },
    dataDir: instance.dataDir,
    setWebhook: (webhook) => instance.start(webhook),
    setUser: (name, secrets) => instance.setUser(name, secrets),
    async kill() {
      const ended = cluster?.ended();
      await killTree(roots());
      await ended;
    },
    async restart() {
      const startedMs = performance.now();
      resumeTree(roots());
      await instance.stop();
      if (cluster?.pid() !== undefined) await cluster.shutDown();
      await cluster?.start();
      await instance.start();
      return performance.now() - startedMs;
    },
    pause() {
      pauseTree(roots());
    },
    resume() {
      resumeTree(roots());
    },
    async stop() {
      resumeTree(roots());
      await stop();
    },
    ...(cluster ? { psql: (sql: string) => cluster.psql(sql) } : {}),
  };
}

/** The first processes of what the script has launched. */
function serverPids(dataDir: string): readonly number[] {
  const launched = join(dataDir, 'launched');
  if (!existsSync(launched)) return [];
  const names = readFileSync(launched, 'utf8').trimEnd().split('\n');
  return names.map((name) => parseInt(readFileSync(join(dataDir, `${name}.pid`), 'utf8'), 10));
}

/**
 * A process that ends everything below `folder` and deletes it once its stdin is closed: by `finish`,
 * or by the kernel where this process was killed.
 */
function spawnGuardian(folder: string) {
  const program = `
    read -r _
    bash "$1" stop --data "$2/kanboard"
    pid=$(head -n1 "$2/postgres/data/postmaster.pid" 2>/dev/null)
    ours() { grep -qs "$2/postgres" "/proc/$pid/cmdline"; }
    if [ -n "$pid" ] && ours "$@"; then # not whoever has its number now
      kill -QUIT "$pid"; kill -CONT "$pid"
      for _ in $(seq 1 100); do ours "$@" || break; sleep 0.1; done
    fi
    rm -rf "$2"`;
  const child = spawn('bash', ['-c', program, 'guardian', script, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: scriptEnvironment(),
  });
  const ended = once(child, 'exit');
  return {
    async finish(): Promise<void> {
      child.stdin.end();
      await ended;
    },
  };
}

/**
 * A copy of a cluster that Kanboard has migrated before, which takes two seconds less than one from
 * nothing. The template lies with what was installed, so that a new Kanboard makes a new one.
 */
async function newCluster(folder: string): Promise<PostgresCluster> {
  const { version } = availableService('postgres');
  const template = join(
    kanboardHome(),
    `template-postgres-${version}-uid${process.getuid?.() ?? 0}`,
  );
  if (!existsSync(template)) await makeTemplate(folder, template);
  const copy = join(folder, 'postgres');
  // Not cpSync: it gives the files to us.
  await run('cp', ['-a', template, copy]);
  const cluster = clusterIn(copy);
  await cluster.start();
  return cluster;
}

async function makeTemplate(folder: string, template: string): Promise<void> {
  const made = join(folder, 'template');
  const cluster = await createCluster(made);
  try {
    // `token` migrates, and starts nothing.
    await callScript(['token', '--data', join(folder, 'kanboard')], {
      KANBOARD_DATABASE_URL: cluster.url,
    });
  } finally {
    await cluster.shutDown();
  }
  const beside = `${template}.${process.pid}`;
  await run('cp', ['-a', made, beside]);
  try {
    renameSync(beside, template);
  } catch (error) {
    // Another test process was faster.
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(template)) throw error;
  }
  rmSync(made, { recursive: true });
}

const kanboardHome = (): string => availableService('kanboard').path;

const scriptEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '/',
  KANBOARD_DEV_HOME: kanboardHome(),
});

async function callScript(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await run('bash', [script, ...args], { env: { ...scriptEnvironment(), ...env } });
}

const exitCodeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
