import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What people start; `npm test` builds it first. */
export const builtMesh = join(import.meta.dirname, '../../dist/cli/main.js');

export interface CommandEnd {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly end: Promise<CommandEnd>;
  /** Resolves once stdout or stderr holds `words`; rejects when the command ends before. */
  seen(words: string): Promise<void>;
}

export interface CommandOptions {
  readonly home: string;
  readonly input?: string;
}

/** `mesh <args>` from dist as a process of its own, with nothing of the environment but PATH. */
export function startMesh(args: readonly string[], options: CommandOptions): RunningCommand {
  const child = spawn(process.execPath, [builtMesh, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], MESH_HOME: options.home },
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(options.input);
  let out = '';
  let err = '';
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const look of watchers) look();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    tell();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    tell();
  });
  const end = once(child, 'close').then(([code]) => ({
    exitCode: code as number | null,
    out,
    err,
  }));
  const seen = (words: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!out.includes(words) && !err.includes(words)) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      void end.then(() => {
        reject(new Error(`mesh ${args.join(' ')} ended without "${words}":\n${out}\n${err}`));
      });
      look();
    });
  return { child, end, seen };
}

export const runMesh = (args: readonly string[], options: CommandOptions): Promise<CommandEnd> =>
  startMesh(args, options).end;
