import { existsSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InvalidValueError, MeshError } from '../../../fabric/domain/errors.ts';
import { lockHome } from '../../../fabric/embedded/home-lock.ts';
import type { Closers } from '../../closers.ts';
import type { HomePaths } from '../../home.ts';
import { stopOwnKanboard } from '../../own-kanboard.ts';
import type { Session } from '../../session.ts';
import { freeze } from '../freeze.ts';
import { backupGround, gitOf, type BackupGround } from './backup-ground.ts';
import { requireWhole } from './database-copy.ts';
import { parseManifest, requireSameBoard, type BackupManifest } from './manifest.ts';
import { missingIn, putBack, replaceData } from './put-back.ts';
import { systemTar, type Tar } from './tar.ts';

export interface RestoreOptions {
  readonly board?: string;
  readonly dryRun?: true;
}

export interface RestoredBackup {
  readonly manifest: BackupManifest;
  readonly isDry: boolean;
  /** Whether the board itself came out of the backup; a foreign one its own host brings back. */
  readonly hasBoard: boolean;
  /** What this home did not have and has from the backup. What it had is newer and stayed. */
  readonly filled: readonly string[];
  /** The home's commit now; mesh.yaml and Cards are as they are there. */
  readonly git: BackupManifest['git'];
  /** Where the board's data from before lie. */
  readonly dataBefore?: string;
  /** Where the mirror from before lies. */
  readonly mirrorBefore?: string;
}

/**
 * Puts the board of a backup in place. Nothing runs from it until it is accepted, also where the backup is so young
 * that the board's stamp would not tell. Everything up to the first move may be cut short; the moves are few, and
 * each leaves what was there under another name.
 */
export async function restoreBackup(
  session: Session,
  file: string,
  { board, dryRun }: RestoreOptions,
  closers: Closers,
): Promise<RestoredBackup> {
  const ground = await backupGround(session, board);
  const { paths, environment } = ground;
  await holdHome(paths, closers);
  const path = resolve(file);
  if (!existsSync(path)) throw new MeshError('NOT_FOUND', `There is no ${path}.`);
  const tar = systemTar(environment.all, session.signal);
  session.progress('reading the backup');
  const manifest = parseManifest(await tar.textOf(path, 'manifest.json'), path);
  requireSameBoard(manifest, ground.board, path);
  const hasBoard = manifest.board.kind === 'own';
  const content = await unpacked(tar, path, paths, closers);
  if (hasBoard) await requireWhole(join(content, 'state/kanboard/data/db.sqlite'), 'The board');
  const isDry = dryRun === true;
  const facts = { manifest, isDry, hasBoard, git: await gitOf(ground) };
  session.signal.throwIfAborted();
  if (isDry) return { ...facts, filled: await missingIn(paths, content) };
  return { ...facts, ...(await apply(session, ground, manifest, content)) };
}

async function apply(
  session: Session,
  ground: BackupGround,
  manifest: BackupManifest,
  content: string,
): Promise<Pick<RestoredBackup, 'filled' | 'dataBefore' | 'mirrorBefore'>> {
  const { paths, environment, folder } = ground;
  const isOwn = manifest.board.kind === 'own';
  if (isOwn) {
    session.progress("stopping the mesh's own Kanboard");
    await stopOwnKanboard(paths.ownKanboard, environment.all);
  }
  session.onInterrupt('The restore was cut short: run it again. What was there lies beside it.');
  session.progress('putting it in place');
  // Held first: a restore that is killed from here on leaves a mesh that takes nothing.
  const mirrorBefore = await freeze({ paths, folder }, manifest, session);
  const dataBefore = isOwn ? await replaceData(paths, content, session.clock.nowMs()) : undefined;
  const filled = await putBack(paths, content);
  return {
    filled,
    ...(dataBefore === undefined ? {} : { dataBefore }),
    ...(mirrorBefore === undefined ? {} : { mirrorBefore }),
  };
}

async function holdHome({ lock, home }: HomePaths, closers: Closers): Promise<void> {
  const held = await lockHome(lock, { pid: process.pid, command: 'mesh board restore' });
  if (held.kind === 'held') {
    const who = held.holder
      ? `\`${held.holder.command}\` (process ${held.holder.pid})`
      : 'somebody';
    throw new MeshError('FABRIC_DOWN', `${home} is in use by ${who}. Stop that first.`);
  }
  closers.add(() => {
    held.release();
  });
}

/** Inside the home, so that each part can be moved to its place. */
async function unpacked(
  tar: Tar,
  file: string,
  { state }: HomePaths,
  closers: Closers,
): Promise<string> {
  // Of restores that were killed; the home is ours.
  for (const name of await readdir(state)) {
    if (name.startsWith('restoring-')) await rm(join(state, name), { recursive: true });
  }
  const content = await mkdtemp(join(state, 'restoring-'));
  closers.add(() => rm(content, { recursive: true, force: true }));
  await tar.unpack(file, content);
  for (const name of await readdir(content, { recursive: true })) {
    const entry = await lstat(join(content, name));
    if (entry.isFile() || entry.isDirectory()) continue;
    throw new InvalidValueError(`${file} has a link or device in it: ${name}.`, 'file');
  }
  return content;
}
