import { execFile } from 'node:child_process';
import { MeshError } from '../../fabric/domain/errors.ts';

/** git said no. The message has its own last line; the caller says what that means. */
export class GitError extends MeshError {
  /** git's exit code; absent when it did not run or was stopped at its time limit. */
  readonly exitCode?: number;

  constructor(message: string, exitCode: number | undefined, options: { cause?: unknown } = {}) {
    super('VALIDATION_ERROR', message, {}, options);
    this.name = 'GitError';
    if (exitCode !== undefined) this.exitCode = exitCode;
  }
}

export interface GitOptions {
  /** The work tree, the mesh home. */
  readonly dir: string;
  /** The process's environment; only what git needs of it is passed on. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

export interface GitCall {
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** Runs git in one repository and gives its output. */
export type Git = (args: readonly string[], call?: GitCall) => Promise<Buffer>;

/** A GIT_DIR or GIT_INDEX_FILE of a surrounding hook would send us to another repository. */
const passedOn = [
  'PATH',
  'HOME',
  'USERPROFILE',
  'SystemRoot',
  'TMPDIR',
  'XDG_CONFIG_HOME',
  'SSH_AUTH_SOCK',
  'GIT_SSH_COMMAND',
  'GIT_SSL_CAINFO',
  'HTTPS_PROXY',
  'https_proxy',
];
const outputBytes = 64 * 1024 * 1024;

/**
 * git by child process, without a shell, a terminal or an optional lock, at most `timeoutMs` a call
 * (20 s). Rejects with GitError.
 */
export function gitIn({ dir, environment, timeoutMs = 20_000 }: GitOptions): Git {
  const kept = passedOn.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value]];
  });
  const quiet = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  const env = { ...(Object.fromEntries(kept) as Record<string, string>), ...quiet };
  return (args, call = {}) =>
    new Promise((resolve, reject) => {
      const limits = { maxBuffer: outputBytes, timeout: call.timeoutMs ?? timeoutMs };
      const options = { cwd: dir, env, encoding: 'buffer', ...limits } as const;
      const child = execFile('git', args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(toGitError(args[0] ?? '', error, stderr));
      });
      // A git that ends before it has read its input is told by its exit code, not by EPIPE.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(call.input ?? '');
    });
}

function toGitError(verb: string, cause: Error & { code?: unknown }, stderr: Buffer): GitError {
  const exitCode = typeof cause.code === 'number' ? cause.code : undefined;
  const said = stderr.toString('utf8').trim().split('\n').at(-1)?.slice(0, 300);
  const why = cause.code === 'ENOENT' ? 'git is not installed' : said;
  return new GitError(
    `git ${verb} failed: ${why || 'it was stopped or gave no reason'}.`,
    exitCode,
    {
      cause,
    },
  );
}

/** The commit a name stands for, or undefined when there is none. */
export async function commitOf(git: Git, name: string): Promise<string | undefined> {
  try {
    const out = await git([
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ]);
    return out.toString('utf8').trim();
  } catch (error) {
    if (error instanceof GitError && error.exitCode === 1) return undefined;
    throw error;
  }
}
