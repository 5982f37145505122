import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { fail, ok, warn, type Finding } from './finding.ts';

/** The floor that the package states, as major and minor of each line that is served. */
const nodeLines: readonly (readonly [major: number, minor: number])[] = [
  [20, 19],
  [22, 13],
  [24, 0],
];

/** `version` like `20.19.4`. Lines above the newest known one are served too. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const newest = Math.max(...nodeLines.map(([line]) => line));
  const floor = nodeLines.find(([line]) => line === major)?.[1];
  const isServed = major > newest || (floor !== undefined && minor >= floor);
  return isServed
    ? ok('node', `Node ${version}`)
    : fail('node', `Node ${version} is not served`, 'Install Node 20.19, 22.13, 24 or newer.');
}

const commandTimeoutMs = 5_000;

export async function gitFinding(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Finding> {
  const options = { timeout: commandTimeoutMs, env: { ...environment } };
  return promisify(execFile)('git', ['--version'], options).then(
    ({ stdout }) => ok('git', stdout.trim()),
    () => fail('git', 'git does not run', 'Install git: Cards are read from a git repository.'),
  );
}

/** Below this the clock was never set: certificates and expiries would make no sense. */
const earliestMs = Date.UTC(2025, 0, 1);

export function clockFinding(clock: Clock): Finding {
  const nowMs = clock.nowMs();
  const stamp = new Date(nowMs).toISOString();
  return nowMs > earliestMs
    ? ok('clock', stamp)
    : fail('clock', `it shows ${stamp}`, 'Set the clock, best by a time service (NTP).');
}

const gib = 1024 ** 3;
const lowBytes = gib;
const emptyBytes = 128 * 1024 ** 2;

/** Room on the disk of `folder`. */
export async function diskFinding(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  const says = `${(freeBytes / gib).toFixed(1)} GiB free`;
  const fix = 'Free some space: a full disk stops the board.';
  if (freeBytes < emptyBytes) return fail('disk', says, fix);
  return freeBytes < lowBytes ? warn('disk', says, fix) : ok('disk', says);
}

const syncs = 5;
const slowSyncMs = 50;
const blockBytes = 4_096;

/** The median time of a small write that waits for the disk; every accepted task waits for one. */
export async function fsyncFinding(folder: string, clock: Clock): Promise<Finding> {
  const scratch = await mkdtemp(join(folder, '.doctor-'));
  try {
    const file = await open(join(scratch, 'sync'), 'w');
    const times: number[] = [];
    for (let count = 0; count < syncs; count++) {
      const startMs = clock.monotonicMs();
      await file.write(Buffer.alloc(blockBytes, count));
      await file.datasync();
      times.push(clock.monotonicMs() - startMs);
    }
    await file.close();
    const medianMs = times.sort((a, b) => a - b)[Math.floor(syncs / 2)] ?? 0;
    const says = `a synced write takes ${medianMs.toFixed(1)} ms`;
    return medianMs > slowSyncMs
      ? warn('fsync', says, 'Put the home on a faster disk: each accepted task waits for one.')
      : ok('fsync', says);
  } catch (error) {
    return fail('fsync', reasonOf(error), 'Check that the home may be written.');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Where to measure when there is no home yet. */
export const scratchFolder = (state: string | undefined): string => state ?? tmpdir();
