import { isUtf8 } from 'node:buffer';
import { gitIn } from '../../cards/registry/git.ts';
import { realPathBelow, type RefText } from './file-ref.ts';

export interface GitRefOptions {
  /** Folders that hold the local repositories which `git:` may name. */
  readonly repositoryRoots: readonly string[];
  /** The process's environment, for git. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A repository's own settings must not start programs. */
const harmless = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'log.showSignature=false'];
const gitTimeoutMs = 20_000;

/**
 * `repo@revision#path`: that file as committed; without path: the commit's message and what it changed.
 * Local repositories only; nothing is fetched.
 */
export async function readGitRef(
  { repositoryRoots, environment }: GitRefOptions,
  value: string,
  maxBytes: number,
): Promise<RefText> {
  const [, repository = '', revision = '', path] =
    /^([^@#]+)@([^@#]+)(?:#(.+))?$/.exec(value) ?? [];
  const dir = await realPathBelow(repositoryRoots, repository);
  if (dir === undefined) return { reason: 'no such repository lies below the folders for git:' };
  const git = gitIn({ dir, environment, timeoutMs: gitTimeoutMs });
  const flags = ['--no-pager', ...harmless.flatMap((setting) => ['-c', setting])];
  const run = (...args: string[]) => git([...flags, ...args]);
  const known = await run(
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  )
    .then((out) => out.toString('utf8').trim())
    .catch(() => undefined);
  if (known === undefined) return { reason: `the repository has no commit ${revision}` };
  if (path === undefined) {
    const shape = ['--stat', '--no-ext-diff', '--no-textconv', '-1', '--format=fuller'];
    return { text: (await run('log', ...shape, known, '--')).toString('utf8').slice(0, maxBytes) };
  }
  const blob = `${known}:${path}`;
  const size = await run('cat-file', '-s', blob)
    .then((out) => Number(out.toString('utf8')))
    .catch(() => undefined);
  if (size === undefined) return { reason: `commit ${known.slice(0, 12)} has no file ${path}` };
  if (size > maxBytes) return { reason: `it has more than ${maxBytes} bytes` };
  const bytes = await run('cat-file', 'blob', blob).catch(() => undefined);
  if (bytes === undefined) return { reason: 'it is no file' };
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { reason: 'it is not text in UTF-8' };
}
