import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MeshError, InvalidValueError } from '../../../fabric/domain/errors.ts';
import { boardProbes } from '../../../fabric/kanboard/board-probes.ts';
import type { Closers } from '../../closers.ts';
import { rpcOf } from '../../kanboard-home.ts';
import type { Session } from '../../session.ts';
import { loadStamp, stampFile } from '../guarded-board.ts';
import { backupGround, gitOf, type BackupGround } from './backup-ground.ts';
import { copyHome } from './home-copy.ts';
import { BackupManifest } from './manifest.ts';
import { systemTar } from './tar.ts';

export interface BackupOptions {
  readonly board?: string;
  readonly withKeys?: true;
}

export interface BackedUp {
  readonly file: string;
  readonly bytes: number;
  /** Whether the board is in it: a foreign Kanboard is for its own host to dump. */
  readonly hasBoard: boolean;
  readonly manifest: BackupManifest;
}

/** Board and state of the mesh in one file, which is there whole or not at all; all of it may go on working. */
export async function backUp(
  session: Session,
  file: string,
  { board, withKeys }: BackupOptions,
  closers: Closers,
): Promise<BackedUp> {
  const ground = await backupGround(session, board);
  const isOwn = ground.board.kind === 'own';
  const hasKeys = withKeys === true;
  requireData(ground);
  const target = resolve(file);
  const draft = await draftBeside(target);
  closers.add(() => rm(draft, { recursive: true, force: true }));
  const content = join(draft, 'content');
  await mkdir(content);
  const { paths, folder } = ground;
  const { signal } = session;
  const progress = (part: string) => {
    session.progress(`copying ${part}`);
  };
  const stamp = await stampOf(ground, session);
  const parts = await copyHome(content, { paths, folder, isOwn, hasKeys, progress, signal });
  const manifest = await manifestOf(ground, session, { hasKeys, parts, stamp });
  await writeFile(join(content, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  session.progress('packing');
  const packed = join(draft, 'packed');
  const tar = systemTar(ground.environment.all, signal);
  await tar.pack(content, ['manifest.json', ...(parts.length > 0 ? ['state'] : [])], packed);
  const bytes = await publish(packed, target);
  return { file: target, bytes, hasBoard: isOwn, manifest };
}

function requireData({ board, paths }: BackupGround): void {
  if (board.kind === 'foreign') return;
  if (existsSync(join(paths.ownKanboard, 'data/db.sqlite'))) return;
  throw new MeshError(
    'NOT_FOUND',
    `${paths.home} has no Kanboard of its own yet: there is nothing to back up. \`mesh up --board kanboard\` makes one.`,
  );
}

/** In the target's own folder, so that the whole file can take its name at once. */
async function draftBeside(target: string): Promise<string> {
  if (existsSync(target)) {
    throw new InvalidValueError(`${target} exists already. Name another file.`, 'file');
  }
  return mkdtemp(`${target}.draft-`).catch((cause: unknown) => {
    throw new InvalidValueError(`${target} can't be written there.`, 'file', { cause });
  });
}

async function stampOf(
  { paths, folder }: BackupGround,
  { random }: Session,
): Promise<BackupManifest['stamp']> {
  const { home, stamp } = await loadStamp(stampFile(paths, { folder }), random);
  return stamp === 0 ? undefined : { home, stamp };
}

async function manifestOf(
  ground: BackupGround,
  session: Session,
  facts: Omit<BackupManifest, 'version' | 'createdAt' | 'board' | 'git'>,
): Promise<BackupManifest> {
  const [kanboardVersion, git] = await Promise.all([versionOf(ground, session), gitOf(ground)]);
  const createdAt = new Date(session.clock.nowMs()).toISOString();
  const board = { ...ground.board, kanboardVersion };
  return BackupManifest.parse({ version: 1, createdAt, board, git, ...facts });
}

async function versionOf(
  { access }: BackupGround,
  { clock }: Session,
): Promise<string | undefined> {
  if (access === undefined) return undefined;
  const rpc = rpcOf(access, clock);
  try {
    return await boardProbes(rpc, access.boardId).version();
  } catch {
    // The mesh's own is stopped, or the other one is away: the copy is good without.
    return undefined;
  } finally {
    rpc.close();
  }
}

/** Gives the file its name once all of it is on the disk; the bytes of it. */
async function publish(packed: string, target: string): Promise<number> {
  await chmod(packed, 0o600);
  const file = await open(packed, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(packed, target);
  return (await stat(target)).size;
}
