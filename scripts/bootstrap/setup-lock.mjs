import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say } from './say.mjs';

const pollMs = 100;
const sayAfterMs = 1_000;
const sayEveryMs = 10_000;
const free = 'free';

/**
 * Runs `work` while no other process that uses the same `folder` does.
 *
 * The lock is the file with the highest number in `folder`; it names its holder or says `free`. Who
 * finds the holder dead, or the lock free, links the next number: exactly one of any number of
 * waiters succeeds, since a link never replaces a file. The highest number is never deleted, so a
 * waiter that slept through a whole turn sees, when it looks again after its link, that a higher
 * number exists, and withdraws.
 * @template T
 * @param {string} folder made if it is missing
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withSetupLock(folder, work) {
  mkdirSync(folder, { recursive: true });
  const mine = await acquire(folder);
  try {
    return await work();
  } finally {
    replace(folder, mine, free);
  }
}

async function acquire(folder) {
  const startedMs = performance.now();
  let sayAtMs = startedMs + sayAfterMs;
  for (;;) {
    const top = highest(folder);
    const holder = top === 0 ? free : contentOf(folder, top);
    if (holder !== undefined && !isAlive(holder)) {
      if (take(folder, top + 1)) return top + 1;
      continue;
    }
    if (holder !== undefined && performance.now() >= sayAtMs) {
      say(`waiting for process ${holder.split(' ')[0]}, which is setting this clone up`);
      sayAtMs = performance.now() + sayEveryMs;
    }
    await sleep(pollMs);
  }
}

/** Whether number `n` is now ours. The link is the decision, the second look catches a late one. */
function take(folder, n) {
  const draft = join(folder, `draft-${process.pid}`);
  writeFileSync(draft, me());
  try {
    linkSync(draft, join(folder, `${n}`));
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  if (highest(folder) !== n) {
    rmSync(join(folder, `${n}`), { force: true });
    return false;
  }
  for (const lower of numbers(folder)) {
    if (lower < n) rmSync(join(folder, `${lower}`), { force: true });
  }
  return true;
}

function replace(folder, n, content) {
  const draft = join(folder, `draft-${process.pid}`);
  writeFileSync(draft, content);
  renameSync(draft, join(folder, `${n}`));
}

function numbers(folder) {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

const highest = (folder) => Math.max(0, ...numbers(folder));

/** undefined where the file was cleaned away between the listing and this look. */
function contentOf(folder, n) {
  try {
    return readFileSync(join(folder, `${n}`), 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

const me = () => `${process.pid} ${startOf(process.pid)}`;

/** A holder lives while its pid does and, where the kernel tells, started when the lock says. */
function isAlive(holder) {
  if (holder === free) return false;
  const [pid, start] = holder.split(' ');
  if (!isRunning(Number(pid))) return false;
  const now = startOf(pid);
  return start === '' || now === '' || start === now;
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/**
 * When a process started, in clock ticks since boot (field 22 of /proc/<pid>/stat); '' where there
 * is no /proc. It tells a pid that was used again from the one in the lock.
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
