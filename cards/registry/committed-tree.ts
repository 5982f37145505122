import { cardFileBytes } from '../schema/yaml-source.ts';
import type { Git } from './git.ts';

/** What one commit holds of the folders that matter, never what lies uncommitted beside it. */
export interface CommittedTree {
  readonly commit: string;
  /** `cards/<id>.card.yaml` and `personas/<id>.md`, by path. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Things in these folders that are not read, and why: for warnings. */
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
}

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
  readonly bytes: number;
}

const read = /^(cards\/[^/]+\.card\.yaml|personas\/[^/]+\.md)$/;

/** Reads the Cards and personas of `commit` (a full object id). Rejects with GitError. */
export async function readCommittedTree(git: Git, commit: string): Promise<CommittedTree> {
  const listing = await git([
    'ls-tree',
    '-r',
    '-l',
    '-z',
    '--full-tree',
    commit,
    '--',
    'cards',
    'personas',
  ]);
  const entries = toEntries(listing.toString('utf8'));
  const wanted = entries.filter((entry) => ignoredBecause(entry) === undefined);
  const contents = await readObjects(git, wanted);
  return {
    commit,
    files: new Map(wanted.map(({ path }, index) => [path, contents[index] ?? Buffer.alloc(0)])),
    ignored: entries.flatMap((entry) => {
      const reason = ignoredBecause(entry);
      return reason === undefined ? [] : [{ path: entry.path, reason }];
    }),
  };
}

function toEntries(listing: string): readonly Entry[] {
  return listing.split('\0').flatMap((line) => {
    const [head = '', path] = line.split('\t', 2);
    const [mode = '', , object = '', size = ''] = head.split(/ +/);
    return path === undefined ? [] : [{ path, mode, object, bytes: Number(size) || 0 }];
  });
}

function ignoredBecause({ path, mode, bytes }: Entry): string | undefined {
  if (!read.test(path)) return 'only cards/<id>.card.yaml and personas/<name>.md are read';
  if (!mode.startsWith('100')) return 'it is a link or a submodule, not a file';
  return bytes > 4 * cardFileBytes ? 'it is over 1 MiB' : undefined;
}

/** The blobs in the order asked for, in one call of git. */
async function readObjects(git: Git, entries: readonly Entry[]): Promise<readonly Buffer[]> {
  if (entries.length === 0) return [];
  const input = entries.map(({ object }) => `${object}\n`).join('');
  const out = await git(['cat-file', '--batch'], { input });
  let at = 0;
  return entries.map(() => {
    const headEnd = out.indexOf(0x0a, at);
    const size = Number(out.toString('utf8', at, headEnd).split(' ')[2]);
    const start = headEnd + 1;
    at = start + size + 1;
    return out.subarray(start, start + size);
  });
}
