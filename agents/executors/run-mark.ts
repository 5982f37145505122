import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Clock } from '../../fabric/ports/clock.ts';

/** Variable that every process of a run carries, however far it moved from the first one. */
export const runMarkVariable = 'MESH_RUN_MARK';

/** Whether strays can be found on this host at all; without it nothing is spawned. */
export const canFindStrays = (): boolean => existsSync('/proc/self/environ');

export interface Sweep {
  /** Processes that were found and killed. */
  readonly killed: number;
  /** Still there when the time was over. */
  readonly survivors: readonly number[];
}

const pauseMs = 20;

/**
 * Kills whatever carries `mark` in its environment until two looks in a row find nothing. Process
 * groups do not hold the tools of coding agents: these start their commands in sessions of their own
 * (`reference/executors.md` 8). A process that wiped its environment is not found here.
 * @param withinMs when to give up, e.g. on a process in an uninterruptible wait
 */
export async function killMarked(mark: string, clock: Clock, withinMs: number): Promise<Sweep> {
  const deadlineMs = clock.monotonicMs() + withinMs;
  const killed = new Set<number>();
  let quiet = 0;
  for (;;) {
    const found = await markedProcesses(mark);
    for (const pid of found) {
      if (sendSignal(pid, 'SIGKILL')) killed.add(pid);
    }
    quiet = found.length === 0 ? quiet + 1 : 0;
    if (quiet >= 2) return { killed: killed.size, survivors: [] };
    if (clock.monotonicMs() >= deadlineMs) return { killed: killed.size, survivors: found };
    await clock.sleep(pauseMs);
  }
}

/** Process ids whose environment, as of their start, has exactly this mark. */
export async function markedProcesses(mark: string): Promise<readonly number[]> {
  const wanted = Buffer.from(`${runMarkVariable}=${mark}\0`);
  const names = await readdir('/proc');
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => carries(pid, wanted)));
  return pids.filter((_pid, index) => found[index]);
}

async function carries(pid: number, wanted: Buffer): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`);
    const at = environment.indexOf(wanted);
    // Only at the start of an entry: a value may contain anything.
    return at === 0 || (at > 0 && environment[at - 1] === 0);
  } catch {
    // Gone, or another user's: neither is a process of ours.
    return false;
  }
}

/** False where there is no such process (any more). A negative id is a process group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
