import { commitOf, type Git } from './git.ts';

/** Where the newest commit comes from. */
export interface BranchSource {
  readonly isRemote: boolean;
  /** Brings the remote's branch here; nothing to do without a remote. Rejects with GitError. */
  fetch(): Promise<void>;
  /** The newest commit known here; undefined when the branch has none. */
  commit(): Promise<string | undefined>;
}

/** A local branch, or a remote's branch kept under a ref of our own that no person works on. */
export function branchSource(
  git: Git,
  { branch, remote }: { readonly branch: string; readonly remote?: string },
): BranchSource {
  if (remote === undefined) {
    return {
      isRemote: false,
      fetch: () => Promise.resolve(),
      commit: () => commitOf(git, `refs/heads/${branch}`),
    };
  }
  const ref = `refs/cardmesh/${branch}`;
  return {
    isRemote: true,
    async fetch() {
      const spec = `+refs/heads/${branch}:${ref}`;
      await git(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', remote, spec]);
    },
    commit: () => commitOf(git, ref),
  };
}
