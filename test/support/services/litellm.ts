import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { availableService } from './service.ts';

const masterKey = 'sk-mesh-test-master';
const pollMs = 200;
const killAfterMs = 5_000;

export interface LiteLlmOptions {
  /** LiteLLM's config.yaml. The master key is given in the environment; it need not name one. */
  readonly configYaml: string;
  /** More environment, for `os.environ/NAME` in the configuration. Nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files beside config.yaml by name: a `custom_auth` module, a callback. */
  readonly files?: Readonly<Record<string, string>>;
  readonly readyWithinMs?: number;
}

export interface RunningLiteLlm {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  readonly masterKey: string;
  /** From the spawn to the first good answer of /health/liveliness. 15 s is usual. */
  readonly readyMs: number;
  /** What it has written to stdout and stderr so far. */
  output(): string;
  /** Takes it away as an operator (SIGTERM) or a crash (SIGKILL) does; resolves when it is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it on its port again after `end`; gives the ms until it answered. */
  startAgain(): Promise<number>;
  /** Ends its whole process group; resolves when the proxy is gone. */
  stop(): Promise<void>;
}

/**
 * Starts the pinned, real LiteLLM proxy on a free loopback port, without database and without any
 * address outside of this machine. Start one a file (in `beforeAll`, with a timeout of at least
 * 180 s): it takes about 15 s on a quiet machine, and 330 MiB.
 * @throws {Error} with the end of its output when it exits or is not ready in time
 */
export async function startLiteLlm(options: LiteLlmOptions): Promise<RunningLiteLlm> {
  const { path: python } = availableService('litellm');
  const folder = mkdtempSync(join(tmpdir(), 'mesh-litellm-'));
  for (const [name, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, 'config.yaml'), options.configYaml);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const output = (): string => readFileSync(join(folder, 'output.log'), 'utf8');
  let child: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (child) await endGroup(child, signal);
  };
  const killGroup = (): void => {
    if (child) signalGroup(child, 'SIGKILL');
  };
  process.once('exit', killGroup);
  const stop = async (): Promise<void> => {
    await end();
    process.off('exit', killGroup);
    rmSync(folder, { recursive: true, force: true });
  };
  const start = async (): Promise<number> => {
    const startedMs = performance.now();
    child = spawnProxy(python, folder, port, options.env ?? {});
    try {
      await untilLive(url, child, startedMs + (options.readyWithinMs ?? 170_000));
    } catch (cause) {
      const tail = output().slice(-4_000);
      await stop();
      throw new Error(`LiteLLM did not get ready. The end of its output:\n${tail}`, { cause });
    }
    return performance.now() - startedMs;
  };
  const readyMs = await start();
  return { url, masterKey, readyMs, output, end, startAgain: start, stop };
}

function spawnProxy(
  python: string,
  folder: string,
  port: number,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const log = openSync(join(folder, 'output.log'), 'a');
  const run = 'from litellm import run_server; run_server()';
  const args = ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(python, ['-c', run, ...args, '--num_workers', '1'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      LANG: 'C.UTF-8',
      PYTHONPATH: folder,
      // Else it fetches the price map at import.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      // Else it reads a .env file from wherever it finds one.
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
      LITELLM_MASTER_KEY: masterKey,
      ...env,
    },
  });
  closeSync(log);
  return child;
}

async function untilLive(url: string, child: ChildProcess, deadlineMs: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`LiteLLM exited with ${child.signalCode ?? String(child.exitCode)}.`);
    }
    if (performance.now() > deadlineMs) throw new Error('LiteLLM was not ready in time.');
    const live = await fetch(`${url}/health/liveliness`, { signal: AbortSignal.timeout(2_000) })
      .then((response) => response.ok)
      .catch(() => false);
    if (live) return;
    await sleep(pollMs);
  }
}

async function endGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    signalGroup(child, signal);
    const timer = setTimeout(() => {
      signalGroup(child, 'SIGKILL');
    }, killAfterMs);
    await gone;
    clearTimeout(timer);
  }
  signalGroup(child, 'SIGKILL');
}

/** To the group that `detached` made. A group that is gone is what was wanted. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
