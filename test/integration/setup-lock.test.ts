import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const program = join(import.meta.dirname, '../support/bootstrap/hold-setup-lock.mjs');

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-lock-'));
  children = [];
  writeFileSync(join(folder, 'journal'), '');
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const lock = (): string => join(folder, 'lock');
const journal = (): string[] =>
  readFileSync(join(folder, 'journal'), 'utf8').split('\n').filter(Boolean);

function holder(hold: string): ChildProcess {
  const args = [program, lock(), join(folder, 'journal'), hold];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  children.push(child);
  return child;
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', resolve));

/** A process that got the lock and was killed with it. */
async function killedHolder(): Promise<ChildProcess> {
  const dead = holder('forever');
  await vi.waitFor(() => {
    expect(journal()).toHaveLength(1);
  }, 10_000);
  const exit = exitOf(dead);
  dead.kill('SIGKILL');
  await exit;
  return dead;
}

/** Whether each `enter` is followed by the same process's `leave`: nobody was in beside another. */
const tookTurns = (lines: readonly string[]): boolean =>
  lines.every((line, i) => i % 2 === 1 || lines[i + 1] === line.replace('enter', 'leave'));

test('a living holder is waited for', async () => {
  const first = holder('300');
  await vi.waitFor(() => {
    expect(journal()).toHaveLength(1);
  }, 10_000);
  expect(await exitOf(holder('0'))).toBe(0);
  expect(journal()).toHaveLength(4);
  expect(journal()[1]).toBe(`leave ${first.pid}`);
});

test('a dead holder is taken over, by one of several waiters at a time', async () => {
  const dead = await killedHolder();
  const waiters = Array.from({ length: 6 }, () => holder('20'));
  expect(await Promise.all(waiters.map(exitOf))).toEqual([0, 0, 0, 0, 0, 0]);
  const [first, ...turns] = journal();
  expect(first).toBe(`enter ${dead.pid}`);
  expect(turns).toHaveLength(12);
  expect(tookTurns(turns)).toBe(true);
  expect(readdirSync(lock())).toHaveLength(1);
});

test('a pid that was given to another process does not keep the lock', async () => {
  await killedHolder();
  const [name] = readdirSync(lock());
  writeFileSync(join(lock(), name!), `${process.pid} 1`);
  expect(await exitOf(holder('0'))).toBe(0);
  expect(journal()).toHaveLength(3);
});
