import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const command = join(root, 'dist/cli/main.js');

/** How a child ended and what it said. */
export interface CommandEnd {
  /** The exit code, or the signal that ended it. */
  readonly code: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly home: string;
  /** Beside PATH, HOME and LANG; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** What `mesh up --json` says when it is ready. */
const Ready = z.looseObject({
  url: z.url(),
  readyMs: z.number(),
  agents: z.array(
    z.looseObject({
      agentId: z.string(),
      url: z.string(),
      availability: z.looseObject({ a: z.number(), reasons: z.array(z.string()) }),
    }),
  ),
});

export interface MeshProcess {
  readonly url: string;
  readonly home: string;
  /** The operator's own, with every scope. */
  readonly token: string;
  readonly pid: number;
  readonly ready: z.infer<typeof Ready>;
  /** From the spawn of the process to its ready line, ms. */
  readonly startMs: number;
  stderr(): string;
  /** The verb as a child in this home. */
  mesh(...args: readonly string[]): Promise<CommandEnd>;
  /** Ends it by `signal` and gives how it ended; only its own process is signalled. */
  stop(signal?: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<CommandEnd>;
}

/** Runs one `mesh` command to its end. */
export async function mesh(
  { home, env = {}, input = '' }: CommandOptions,
  ...args: readonly string[]
): Promise<CommandEnd> {
  const child = spawnMesh([...args, '--home', home], env);
  const heard = listen(child);
  child.stdin?.end(input);
  return { code: await ended(child), stdout: heard.stdout(), stderr: heard.stderr() };
}

export interface StartOptions extends CommandOptions {
  /** Beside `up --home … --port 0 --json`. */
  readonly args?: readonly string[];
}

/**
 * Starts a real `mesh up` from dist on a free port and waits until it says that it is ready.
 * @throws {Error} with what it said when it ends before
 */
export async function startMesh(options: StartOptions): Promise<MeshProcess> {
  const { home, env = {}, args = [] } = options;
  const startedMs = performance.now();
  const daemon = startDaemon({ home, env }, ['up', '--port', '0', '--json', ...args]);
  const line = await daemon.readyLine;
  const startMs = performance.now() - startedMs;
  const ready = readyOf(line, daemon.stderr());
  return {
    url: ready.url,
    home,
    token: readFileSync(join(home, 'state/operator.token'), 'utf8').trim(),
    pid: daemon.pid,
    ready,
    startMs,
    stderr: daemon.stderr,
    mesh: (...words) => mesh({ home, env }, ...words),
    stop: daemon.stop,
  };
}

function readyOf(line: string, stderr: string): z.infer<typeof Ready> {
  try {
    return Ready.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`mesh up is not ready: ${line}\n${stderr}`, { cause });
  }
}

export interface Daemon extends Pick<MeshProcess, 'pid' | 'stderr' | 'stop'> {
  /** Its first line on stdout. */
  readonly readyLine: Promise<string>;
  stdout(): string;
}

/** Starts a verb that goes on running: `up`, `serve`, `keeper`. */
export function startDaemon({ home, env = {} }: CommandOptions, args: readonly string[]): Daemon {
  const child = spawnMesh([...args, '--home', home], env);
  const heard = listen(child);
  child.stdin?.end();
  const end = ended(child);
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const { pid } = child;
  if (pid === undefined) throw new Error('the mesh was not spawned; is dist built?');
  return {
    pid,
    ...heard,
    readyLine: firstLine(child, end, heard),
    async stop(signal = 'SIGINT') {
      child.kill(signal);
      const code = await end;
      process.off('exit', killAtExit);
      return { code, stdout: heard.stdout(), stderr: heard.stderr() };
    },
  };
}

function firstLine(
  child: ChildProcess,
  end: Promise<CommandEnd['code']>,
  heard: ReturnType<typeof listen>,
): Promise<string> {
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const text = heard.stdout();
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    void end.then((code) => {
      reject(new Error(`It ended with ${String(code)}:\n${heard.stdout()}${heard.stderr()}`));
    });
  });
  // Whoever wants it awaits it; one that never gets ready must not end the test's own process.
  line.catch(() => undefined);
  return line;
}

function spawnMesh(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const basic = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    LANG: 'C.UTF-8',
  };
  return spawn(process.execPath, [command, ...args], {
    cwd: root,
    env: { ...basic, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function listen(child: ChildProcess): { stdout: () => string; stderr: () => string } {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  return { stdout: () => said.stdout, stderr: () => said.stderr };
}

/** `close`, not `exit`: by then everything it said has been read. */
function ended(child: ChildProcess): Promise<CommandEnd['code']> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      resolve(code ?? signal);
    });
  });
}

/** Looks again every 25 ms until it holds; fails with what was seen last. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean,
  withinMs = 10_000,
): Promise<T> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > endMs) {
      throw new Error(`It did not come true within ${withinMs} ms: ${JSON.stringify(seen)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
