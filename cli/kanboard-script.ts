import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { sendSignal } from '../agents/executors/run-mark.ts';
import { packageRoot } from '../cards/registry/package-root.ts';
import type { Environment } from './config.ts';

const installMs = 10 * 60_000;

export interface ScriptEnd {
  /** Undefined where it could not be started or a signal ended it. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  /** Its words on stderr. */
  readonly said: readonly string[];
  /** Why it failed, in its last words. */
  readonly error: string;
  /** By the signal or after ten minutes. */
  readonly wasCut: boolean;
}

/** The packaged kanboard-dev.sh on one data folder. Never rejects. */
export type KanboardScript = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<ScriptEnd>;

/** For apt (proxies), the shell and the place of the installation. */
const passedOn = [
  ...['PATH', 'HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'KANBOARD_DEV_HOME', 'KANBOARD_DEBIAN_MIRROR'],
  ...['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'],
];
/** Steps of an installation; a start of what is there has nothing to tell. */
const progress = /^(installing|refreshing|downloading|unpacking|installed) /;

export interface KanboardScriptOptions {
  /** The data folder. */
  readonly data: string;
  /** The application's. */
  readonly token: string;
  readonly environment: Environment['all'];
  /** Gets the steps of an installation. */
  readonly say: (text: string) => void;
  /** Cuts short what runs, but for a stop. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Not by the runner of the agents' programs: that one ends whatever its child leaves behind, and a
 * server is to be left behind.
 */
export function kanboardScript(options: KanboardScriptOptions): KanboardScript {
  const { data, token, environment, say, signal } = options;
  const file = join(packageRoot(), 'deploy', 'kanboard', 'kanboard-dev.sh');
  const kept = passedOn.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const own = Object.fromEntries(kept) as Record<string, string>;
  return (args, env = {}) => {
    const child = spawn('bash', [file, ...args, '--data', data], {
      // An own group: Ctrl-C is for the mesh, which then stops what was started, and a cut must reach apt.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...own, KANBOARD_TOKEN: token, ...env },
    });
    // A stop must come through after Ctrl-C, too.
    const cut = args[0] === 'stop' ? undefined : signal;
    return endOf(child, say, cut);
  };
}

async function endOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  say: (text: string) => void,
  signal: AbortSignal | undefined,
): Promise<ScriptEnd> {
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  const said: string[] = [];
  createInterface(child.stderr).on('line', (line) => {
    const words = line.replace(/^kanboard-dev: /, '');
    said.push(words);
    if (progress.test(words)) say(`Kanboard: ${words}`);
  });
  const limit = AbortSignal.timeout(installMs);
  const cut = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const end = (): void => {
    // The script and its apt; servers are in sessions of their own.
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGTERM');
  };
  if (cut.aborted) end();
  cut.addEventListener('abort', end);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    const last = said.findLast((words) => words.startsWith('error: '))?.slice('error: '.length);
    const error = last ?? 'it gave no reason';
    return { exitCode: code ?? undefined, stdout, said, error, wasCut: cut.aborted };
  } catch {
    return { exitCode: undefined, stdout, said, error: 'it has no bash', wasCut: false };
  } finally {
    cut.removeEventListener('abort', end);
  }
}
