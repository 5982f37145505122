import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const goneWithinMs = 10_000;

/** What lives (a zombie does not), by process id: its parent's id. */
function parents(): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [state, parent] = statOf(name);
    if (state !== undefined && state !== 'Z') found.set(Number(name), Number(parent));
  }
  return found;
}

function statOf(pid: string): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name before it may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** The processes and everything they have started, as far as it lives; process groups do not hold all of that. */
function treeOf(roots: readonly number[]): readonly number[] {
  const living = parents();
  const tree = new Set(roots.filter((pid) => living.has(pid)));
  for (let before = -1; before !== tree.size;) {
    before = tree.size;
    for (const [pid, parent] of living) if (tree.has(parent)) tree.add(pid);
  }
  return [...tree];
}

/** SIGSTOP for the whole tree, with what it started meanwhile. */
export function pauseTree(roots: readonly number[]): void {
  for (let before = -1, now = treeOf(roots); before !== now.length; now = treeOf(roots)) {
    before = now.length;
    signalEach(now, 'SIGSTOP');
  }
}

export function resumeTree(roots: readonly number[]): void {
  signalEach(treeOf(roots), 'SIGCONT');
}

/** SIGKILL for all of it at one instant: it is paused first, so nothing of it sees the others die. */
export async function killTree(roots: readonly number[]): Promise<void> {
  pauseTree(roots);
  const tree = treeOf(roots);
  signalEach(tree, 'SIGKILL');
  const deadlineMs = performance.now() + goneWithinMs;
  while (tree.some((pid) => parents().has(pid))) {
    if (performance.now() > deadlineMs) throw new Error(`Could not kill ${tree.join(', ')}.`);
    await sleep(5);
  }
}

function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}
