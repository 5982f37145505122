import { existsSync, renameSync } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { BoardUnavailableError, InvalidValueError, reasonOf } from '../domain/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Liveness } from '../ports/liveness.ts';
import { lockFile, type OsLock } from './os-lock.ts';
import { loadSqlite, type SqliteModule } from './sqlite-module.ts';

/** How long the proof of a death is kept: far longer than any lease that could still name it. */
const proofKeptMs = 7 * 24 * 60 * 60_000;
const deadMark = '.dead';
const startingMark = '.starting';
/** Another process that clears up may take a name away just before it is locked. */
const mostTries = 5;
const waitForSweepMs = 1_000;

const Incarnation = /^[A-Za-z0-9_-]{1,64}$/;

export interface ProcessLivenessOptions {
  /** `state/procs` of the home. */
  readonly folder: string;
  /** This process's name, random, never used again. */
  readonly incarnation: string;
  readonly clock: Clock;
}

export interface ProcessLiveness extends Liveness {
  /** Gives the lock back: from here on this incarnation counts as dead. */
  release(): void;
}

/**
 * Proof of death on this host: each process holds an OS lock on `<folder>/<incarnation>`; whoever can
 * take it knows that its process is gone, and leaves the proof as `<incarnation>.dead` for everybody
 * who asks later. A file bears its final name only while it is locked, so that a process that is just
 * starting never looks dead; a name without any file proves nothing.
 */
export async function processLiveness({
  folder,
  incarnation,
  clock,
}: ProcessLivenessOptions): Promise<ProcessLiveness> {
  if (!Incarnation.test(incarnation)) {
    throw new InvalidValueError(
      'The incarnation of a process is 1 to 64 letters, digits, dashes or underscores.',
      'incarnation',
    );
  }
  const sqlite = await loadSqlite();
  const own = await lockOwn(sqlite, folder, incarnation).catch((cause: unknown) => {
    throw new BoardUnavailableError(
      `This process cannot lock its name in ${folder}: ${reasonOf(cause)}. ` +
        'Check that the folder may be written.',
      { cause },
    );
  });
  await sweep(sqlite, folder, incarnation, clock);
  return {
    incarnation,
    async isDead(other) {
      if (other === incarnation || !Incarnation.test(other)) return false;
      if (await exists(join(folder, `${other}${deadMark}`))) return true;
      return proveDeath(sqlite, folder, other, clock);
    },
    release: () => {
      own.release();
    },
  };
}

async function lockOwn(sqlite: SqliteModule, folder: string, incarnation: string): Promise<OsLock> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const starting = join(folder, `${incarnation}${startingMark}`);
  for (let tries = 1; ; tries++) {
    const lock = lockFile(sqlite, starting, waitForSweepMs);
    if (lock === undefined) throw new Error(`the name ${incarnation} is in use`);
    try {
      await rename(starting, join(folder, incarnation));
      return lock;
    } catch (error) {
      lock.release();
      if (tries === mostTries) throw error;
    }
  }
}

/**
 * True when the lock could be had. No other work of this process comes between lock and new name; where
 * another process is just proving the same, this answers false, and true the next time.
 */
async function proveDeath(
  sqlite: SqliteModule,
  folder: string,
  other: string,
  clock: Clock,
): Promise<boolean> {
  const path = join(folder, other);
  // Opening would make a missing file.
  if (!existsSync(path)) return exists(`${path}${deadMark}`);
  const lock = lockFile(sqlite, path, 0);
  if (lock === undefined) return false;
  try {
    renameSync(path, `${path}${deadMark}`);
  } finally {
    lock.release();
  }
  const at = new Date(clock.nowMs());
  await utimes(`${path}${deadMark}`, at, at);
  return true;
}

/** Proofs for those who died since, and an end for what nobody asks about any more. */
async function sweep(
  sqlite: SqliteModule,
  folder: string,
  incarnation: string,
  clock: Clock,
): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.endsWith(deadMark)) await dropOldProof(path, clock);
    else if (name.endsWith(startingMark)) await dropAbandoned(sqlite, path);
    else if (name !== incarnation && Incarnation.test(name)) {
      await proveDeath(sqlite, folder, name, clock);
    }
  }
}

async function dropOldProof(path: string, clock: Clock): Promise<void> {
  const proof = await stat(path).catch(() => undefined);
  if (proof && clock.nowMs() - proof.mtimeMs > proofKeptMs) await rm(path, { force: true });
}

/** Left by a process that died between making its file and naming it. */
async function dropAbandoned(sqlite: SqliteModule, path: string): Promise<void> {
  if (!(await exists(path))) return;
  const lock = lockFile(sqlite, path, 0);
  if (lock === undefined) return;
  await rm(path, { force: true });
  lock.release();
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
