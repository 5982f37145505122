import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What a process has used, by its own account. */
export interface Usage {
  /** CPU of all its threads since its start, ms. */
  readonly cpuMs: number;
  /** Resident memory, MiB. */
  readonly rssMiB: number;
}

/** A server under measurement: a process of its own, which tells what it uses when it is asked. */
export interface ChildServer {
  /** Its first line on stdout. */
  readonly ready: unknown;
  /** From the spawn to that line, ms. */
  readonly readyMs: number;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

export interface ChildServerOptions {
  /** Node's own flags come first, then the script and its arguments. */
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const channel = join(import.meta.dirname, 'control-channel.mjs');

/**
 * Starts a server that says one line of JSON once it is ready.
 * @throws Error with the end of its stderr when it ends before that
 */
export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { args, environment = {} } = options;
  const startMs = performance.now();
  const child = spawn(process.execPath, ['--import', channel, ...args], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr!.on('data', (bytes: Buffer) => {
    complaint = `${complaint}${bytes.toString('utf8')}`.slice(-2_000);
  });
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`A server of the bench ended before it was ready: ${complaint}`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return {
    ready: JSON.parse(line),
    readyMs: performance.now() - startMs,
    usage: () => usageOf(child),
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function usageOf(child: ChildProcess): Promise<Usage> {
  const told = once(child, 'message') as Promise<[Usage]>;
  child.send('usage');
  return (await told)[0];
}
