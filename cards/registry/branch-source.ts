import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commitOf, type Git } from './git.ts';

/** Where the newest commit comes from. */
export interface BranchSource {
  readonly isRemote: boolean;
  /** Brings the remote's branch here; nothing to do without a remote. Rejects with GitError. */
  fetch(): Promise<void>;
  /** The newest commit known here; undefined when the branch has none. */
  commit(): Promise<string | undefined>;
}

export interface BranchSourceOptions {
  readonly branch: string;
  readonly remote?: string;
  /** The repository's git folder. */
  readonly gitDir: string;
}

const CommitLine = /^[0-9a-f]{40}(?:[0-9a-f]{24})?\n$/;

/**
 * The commit of a ref that has a file of its own, which stands above packed refs. Undefined where only
 * git can tell (packed, symbolic, reftable, work tree): starting a process stops this one for ms, and
 * the registry looks every second.
 */
async function looseCommit(gitDir: string, ref: string): Promise<string | undefined> {
  const text = await readFile(join(gitDir, ref), 'utf8').catch(() => '');
  return CommitLine.test(text) ? text.trim() : undefined;
}

/** A local branch, or a remote's branch kept under a ref of our own that no person works on. */
export function branchSource(
  git: Git,
  { branch, remote, gitDir }: BranchSourceOptions,
): BranchSource {
  let known: string | undefined;
  // Git is asked about each new commit, and only then: whether there is one, a file tells.
  const newestOf = async (ref: string) => {
    const loose = await looseCommit(gitDir, ref);
    if (loose === undefined || loose !== known) known = await commitOf(git, ref);
    return known;
  };
  if (remote === undefined) {
    return {
      isRemote: false,
      fetch: () => Promise.resolve(),
      commit: () => newestOf(`refs/heads/${branch}`),
    };
  }
  const ref = `refs/cardmesh/${branch}`;
  return {
    isRemote: true,
    async fetch() {
      const spec = `+refs/heads/${branch}:${ref}`;
      await git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', remote, spec]);
    },
    commit: () => newestOf(ref),
  };
}
