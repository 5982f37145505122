import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InvalidValueError, reasonOf } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { parsedAs } from '../../fabric/domain/parsed-as.ts';
import { cardKey } from './agent-key.ts';
import { writeFileAtomically } from './atomic-file.ts';
import { commitOf, type Git, GitError, gitIn } from './git.ts';
import { identityBlock } from './identity-block.ts';
import { catalogFolder } from './package-root.ts';

export interface InitHomeOptions {
  /** Absent, empty, or a home already. */
  readonly dir: string;
  /** The id of the person who runs the mesh; gets all questions. */
  readonly human: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface InitHomeResult {
  readonly kind: 'created' | 'existing';
  readonly commit: string;
  /** Agents of a new home; empty for one that existed. */
  readonly agentIds: readonly string[];
}

/** Who makes a home's first commit: nobody's mail address is needed or published. */
const neutral = [
  ...['-c', 'user.name=mesh', '-c', 'user.email=mesh@localhost'],
  ...['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.autocrlf=false'],
];
const branch = 'main';
const ours = new Set(['.git', '.gitignore', 'mesh.yaml', 'cards', 'personas', 'golden', 'state']);

/**
 * Makes a mesh home from the catalog: a git repository with settings, Cards, personas, a key for
 * each agent and the mesh's secret in `state/`. A home that has a commit is left as it is; an init
 * that was cut off is taken up. Throws InvalidValueError for a folder with other things in it.
 */
export async function initHome(options: InitHomeOptions): Promise<InitHomeResult> {
  const { dir } = options;
  const human = parsedAs(AgentId, options.human, 'human');
  const entries = await entriesOf(dir);
  const git = gitIn({ dir, environment: options.environment });
  const commit = entries.includes('.git') ? await commitOf(git, 'HEAD') : undefined;
  if (commit !== undefined && existsSync(join(dir, 'mesh.yaml')))
    return { kind: 'existing', commit, agentIds: [] };
  refuseForeign(dir, entries, commit);
  await git(['init', '--quiet', `--initial-branch=${branch}`, '--template=']);
  // An init that was cut off may have left another name for the first branch.
  await git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
  await nameCommitter(git, human);
  await writeSecret(join(dir, 'state'));
  const agentIds = await writeCatalog(dir, human);
  return { kind: 'created', commit: await firstCommit(git), agentIds };
}

/** What is in the folder, which is made where it is missing. @throws InvalidValueError with what the file system says */
async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    await mkdirWithParents(dir);
    return await readdir(dir);
  } catch (cause) {
    const words = `${dir} can't be made a mesh home: ${reasonOf(cause)}. Name a folder that you may write.`;
    throw new InvalidValueError(words, 'dir', { cause });
  }
}

/** Folder by folder: Node's own recursive `mkdir` never ends where a parent takes no folders (`/proc`). */
async function mkdirWithParents(dir: string): Promise<void> {
  try {
    await mkdir(dir);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(dir) === dir) throw error;
    await mkdirWithParents(dirname(dir));
    await mkdir(dir);
  }
}

function refuseForeign(dir: string, entries: readonly string[], commit: string | undefined): void {
  const foreign = entries.filter((entry) => !ours.has(entry));
  if (foreign.length === 0 && commit === undefined) return;
  const seen = foreign.length > 0 ? `holds ${foreign.slice(0, 3).join(', ')}` : 'has commits';
  const words = `${dir} is no mesh home and ${seen}`;
  throw new InvalidValueError(`${words}. Name an empty or new folder.`, 'dir');
}

/**
 * An agent is registered by a commit, so `git commit` has to work in the home: on a machine where git
 * knows nobody, the person gets a name there, for this repository alone.
 */
async function nameCommitter(git: Git, human: AgentId): Promise<void> {
  const answers = (...args: readonly string[]) => git(args).then(Boolean, isRefusal);
  if (await answers('var', 'GIT_COMMITTER_IDENT')) return;
  const who = { 'user.name': human, 'user.email': `${human}@localhost` };
  for (const [key, value] of Object.entries(who))
    if (!(await answers('config', '--get', key))) await git(['config', '--local', key, value]);
}

/** False for git's own no. @throws whatever else kept it from answering */
function isRefusal(error: unknown): false {
  if (error instanceof GitError && error.exitCode !== undefined) return false;
  throw error;
}

/** 32 random bytes that name tasks; the same on every host of a mesh, so one that is there stays. */
async function writeSecret(stateDir: string): Promise<void> {
  await mkdir(join(stateDir, 'keys'), { recursive: true, mode: 0o700 });
  const path = join(stateDir, 'keys', 'mesh.secret');
  if (existsSync(path)) return;
  await writeFileAtomically(path, `${randomBytes(32).toString('hex')}\n`, 0o600);
}

async function writeCatalog(dir: string, human: AgentId): Promise<readonly string[]> {
  const catalog = catalogFolder();
  await mkdir(join(dir, 'cards'), { recursive: true });
  await mkdir(join(dir, 'personas'), { recursive: true });
  const files = (await readdir(catalog)).filter((name) => name.endsWith('.card.yaml'));
  const shipped = files.map((name) => name.replace('.card.yaml', ''));
  if (human !== placeholder && shipped.includes(human))
    throw new InvalidValueError(
      `"${human}" is a shipped agent. Choose another id for the person.`,
      'human',
    );
  for (const id of shipped) await writeShippedCard(dir, catalog, id, human);
  for (const name of await readdir(join(catalog, 'personas')))
    await writeFile(join(dir, 'personas', name), await readFile(join(catalog, 'personas', name)));
  const settings = await readFile(join(catalog, 'mesh.yaml'), 'utf8');
  const named = settings.replace(`defaultHuman: ${placeholder}`, `defaultHuman: ${human}`);
  await writeFile(join(dir, '.gitignore'), 'state/\n');
  await writeFile(join(dir, 'mesh.yaml'), named);
  return shipped.map((id) => (id === placeholder ? human : id)).sort();
}

/** The id that stands for the person in the catalog. */
const placeholder = 'operator';

async function writeShippedCard(
  dir: string,
  catalog: string,
  id: string,
  human: AgentId,
): Promise<void> {
  const agentId = id === placeholder ? human : id;
  const text = await readFile(join(catalog, `${id}.card.yaml`), 'utf8');
  const key = await cardKey(join(dir, 'state'), agentId);
  const card = `${named(text, human).trimEnd()}\n${identityBlock(key)}`;
  await writeFile(join(dir, 'cards', `${agentId}.card.yaml`), card);
}

function named(text: string, human: AgentId): string {
  if (human === placeholder) return text;
  const title = `${human.charAt(0).toUpperCase()}${human.slice(1)}`;
  return text
    .replaceAll(/^(id|mayCall|\s+project):.*$/gm, (line) => line.replace(/\boperator\b/, human))
    .replace(/^name: Operator$/m, `name: ${title}`);
}

async function firstCommit(git: Git): Promise<string> {
  await git(['add', '--', '.gitignore', 'mesh.yaml', 'cards', 'personas']);
  await git([...neutral, 'commit', '--quiet', '--no-verify', '-m', 'Start the mesh']);
  const commit = await commitOf(git, 'HEAD');
  if (commit === undefined) throw new Error('git made no commit. Look at the folder with git log.');
  return commit;
}
