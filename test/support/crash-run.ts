import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RunTask } from '../../fabric/ports/run-task.ts';
import type { HistoryLine } from './history-checker.ts';
import type { CrashStep } from './crash-order.ts';

export interface CrashRunOptions {
  readonly home: string;
  readonly workMs: number;
  readonly dieAt: (step: CrashStep) => void;
}

/** A task of this title kills the worker that runs it. */
export const poison = 'poison';

/** A program of its own that says that it began, works, acts, and says that it is done. */
const program = (acts: string, mark: string, workMs: number): string =>
  `echo begun; sleep ${workMs / 1_000}; echo '${mark}' >> '${acts}'; echo closed`;

/** Runs a real program for each task, and writes down what it started before it goes on. */
export function crashRun({ home, workMs, dieAt }: CrashRunOptions): RunTask {
  return async ({ state, fence, attempt }, signal) => {
    const { taskId: uid, task } = state;
    const line: HistoryLine = { op: 'spawn', uid, fence, attempt };
    appendFileSync(join(home, 'history.jsonl'), `${JSON.stringify(line)}\n`);
    if (task.intent.title === poison) process.kill(process.pid, 'SIGKILL');
    const script = program(join(home, 'acts.txt'), `${uid} ${fence}`, workMs);
    // A group of its own, as for real executors: what the shell started is killed with it.
    const child = spawn('/bin/sh', ['-c', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    appendFileSync(join(home, 'pids.txt'), `${uid} ${fence} ${child.pid ?? 0}\n`);
    dieAt('S5');
    const kill = () => process.kill(-(child.pid ?? NaN), 'SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    let isClosed = false;
    for await (const text of createInterface({ input: child.stdout })) {
      if (text === 'begun') dieAt('S6');
      if (text === 'closed') isClosed = true;
    }
    signal.removeEventListener('abort', kill);
    if (!isClosed) return { kind: 'stopped' };
    dieAt('S7');
    return { kind: 'done', outcome: { summary: `Done by fence ${fence}.`, artifacts: [] } };
  };
}

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];

/** What all processes of a home wrote down. */
export const historyOf = (home: string): HistoryLine[] =>
  linesOf(join(home, 'history.jsonl')).map((line) => JSON.parse(line) as HistoryLine);

/** `<uid> <fence>` of each act in the outside world. */
export const actsOf = (home: string): string[] => linesOf(join(home, 'acts.txt'));

/** Process id of the program of each run, by `<uid> <fence>`. */
export const pidsOf = (home: string): ReadonlyMap<string, number> =>
  new Map(
    linesOf(join(home, 'pids.txt')).map((line) => {
      const [uid, fence, pid] = line.split(' ');
      return [`${uid ?? ''} ${fence ?? ''}`, Number(pid)];
    }),
  );
