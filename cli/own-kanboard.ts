import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../cards/registry/atomic-file.ts';
import { packageRoot } from '../cards/registry/package-root.ts';
import { MeshError } from '../fabric/domain/errors.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { Environment } from './config.ts';
import { kanboardScript, type KanboardScript } from './kanboard-script.ts';

export interface OwnKanboardOptions {
  /** `state/kanboard` of the home: its data and its token. */
  readonly folder: string;
  /** Absent: the one it had before, else the first free one from 8085 on. */
  readonly port?: number;
  readonly random: Random;
  /** Only what the script needs of it is passed on; `KANBOARD_DEV_HOME` names an installation to use. */
  readonly environment: Environment['all'];
  readonly log: Log;
  /** Words for the person who waits: the first start installs for some twenty seconds. */
  readonly say: (text: string) => void;
  /** Aborts at Ctrl-C or SIGTERM; ends an installation that runs. */
  readonly signal?: AbortSignal;
}

export interface OwnKanboard {
  /** Of its API: `http://127.0.0.1:<port>/jsonrpc.php`. */
  readonly url: string;
  /** What people open. */
  readonly pageUrl: string;
  /** The application's, for all projects. */
  readonly token: string;
  /** Holds the password of the user `admin`, as it was made at the first start. */
  readonly adminPasswordFile: string;
  /** Where events are sent, and the word they bring; Kanboard has one such address for all projects. */
  setWebhook(webhook: { readonly url: string; readonly token: string }): Promise<void>;
  /**
   * Of a user that is there: a password, a personal API token, or both.
   * @throws MeshError `FABRIC_DOWN` when there is none of that name
   */
  setUser(
    name: string,
    secrets: { readonly password?: string; readonly token?: string },
  ): Promise<void>;
  /** Starts it on its port again where it died; does nothing to one that runs. */
  revive(): Promise<void>;
  /** Ends it, with every request answered. Its data stay. */
  stop(): Promise<void>;
}

/** The script's own exit code where something else listens on the port. */
const portTaken = 4;
const firstPort = 8085;
const portsTried = 50;

/**
 * The mesh's own Kanboard: on SQLite with one PHP worker, on loopback, its data below `folder`. Starts
 * it, or takes over the one that runs on that data already (a mesh that was killed leaves it behind).
 * The first start on a machine unpacks it from Debian packages.
 * @throws MeshError `FABRIC_DOWN` when this machine can't, with what to do instead
 */
export async function ownKanboard(options: OwnKanboardOptions): Promise<OwnKanboard> {
  const { folder, log } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const token = await ownToken(join(folder, 'api.token'), options.random);
  const data = join(folder, 'data');
  const { environment, say, signal } = options;
  const script = kanboardScript({ data, token, environment, say, signal });
  const { port, adopted } = await startOnSomePort(script, options, data);
  const pageUrl = `http://127.0.0.1:${port}/`;
  log.info(adopted ? 'kanboard.adopted' : 'kanboard.started', { url: pageUrl });
  const start = ['start', '--port', String(port)];
  return {
    url: `${pageUrl}jsonrpc.php`,
    pageUrl,
    token,
    adminPasswordFile: join(data, 'admin.password'),
    async setWebhook(webhook) {
      // A start of what runs only puts the settings in.
      await succeed(script, start, {
        KANBOARD_WEBHOOK_URL: webhook.url,
        KANBOARD_WEBHOOK_TOKEN: webhook.token,
      });
    },
    async setUser(name, secrets) {
      await succeed(script, ['user', name], {
        ...(secrets.password === undefined ? {} : { KANBOARD_USER_PASSWORD: secrets.password }),
        ...(secrets.token === undefined ? {} : { KANBOARD_USER_TOKEN: secrets.token }),
      });
    },
    revive: () => succeed(script, start),
    async stop() {
      await succeed(script, ['stop']);
      log.info('kanboard.stopped', { url: pageUrl });
    },
  };
}

/** Ends one that a mesh has left running on the data below `folder`; does nothing where there is none. */
export async function stopOwnKanboard(
  folder: string,
  environment: Environment['all'],
): Promise<void> {
  const data = join(folder, 'data');
  if (!existsSync(join(data, 'launched'))) return;
  const script = kanboardScript({
    ...{ data, token: '', environment, signal: undefined },
    say: () => undefined,
  });
  await succeed(script, ['stop']);
}

/** Made once. */
async function ownToken(file: string, random: Random): Promise<string> {
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known.trim() !== '') return known.trim();
  const token = random.hex(32);
  await writeFileAtomically(file, `${token}\n`, 0o600);
  return token;
}

async function startOnSomePort(
  script: KanboardScript,
  { port: wanted, log }: OwnKanboardOptions,
  data: string,
): Promise<{ readonly port: number; readonly adopted: boolean }> {
  const before = await readFile(join(data, 'port'), 'utf8').catch(() => '');
  const first = wanted ?? (Number(before) || firstPort);
  for (let port = first; port < first + (wanted === undefined ? portsTried : 1); port++) {
    const end = await script(['start', '--port', String(port)]);
    if (end.exitCode === 0) {
      const [, told] = /^KANBOARD_URL=http:\/\/127\.0\.0\.1:(\d+)\/$/m.exec(end.stdout) ?? [];
      return { port: Number(told ?? port), adopted: end.said.includes('already running') };
    }
    if (end.wasCut) throw wasCut();
    if (end.exitCode !== portTaken) throw cannotRun(end.error);
    log.warn('kanboard.port-taken', { port });
  }
  throw new MeshError(
    'FABRIC_DOWN',
    `Something else listens on port ${first}, where the mesh's own Kanboard should. Stop it, or name another port.`,
  );
}

async function succeed(
  script: KanboardScript,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { exitCode, error } = await script(args, env);
  if (exitCode === 0) return;
  throw new MeshError('FABRIC_DOWN', `The mesh's own Kanboard: ${args[0]} failed: ${error}.`);
}

const wasCut = (): MeshError =>
  new MeshError(
    'FABRIC_DOWN',
    "The start of the mesh's own Kanboard was stopped before it was done. Start the mesh again.",
  );

function cannotRun(why: string): MeshError {
  const compose = join(packageRoot(), 'deploy', 'kanboard', 'compose.yaml');
  return new MeshError(
    'FABRIC_DOWN',
    `This machine can't run a Kanboard of the mesh's own: ${why}. Start one with ${compose} (README.md beside it) ` +
      'or take one you have, and name it: --board kanboard:<url>.',
  );
}
