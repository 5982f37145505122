import { fdatasyncSync, openSync, writeSync, closeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Takes `inFlight` life cycles at a time through a queue until `isOver`; returns how many it ended. */
export type LifeCycles = (inFlight: number, isOver: () => boolean) => Promise<number>;

export const levels = [1, 16, 64, 256] as const;
const runs = 5;
const runMs = 1_500;
const warmUpMs = 400;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Life cycles a second: a warm-up, then the median of five runs. */
export async function rateOf(cycles: LifeCycles, inFlight: number): Promise<number> {
  const once = async (ms: number) => {
    const start = performance.now();
    const ended = await cycles(inFlight, () => performance.now() - start > ms);
    return (ended * 1_000) / (performance.now() - start);
  };
  await once(warmUpMs);
  const rates: number[] = [];
  for (let run = 0; run < runs; run++) rates.push(await once(runMs));
  return median(rates);
}

export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the disk itself does: appends of 4 KiB a second, each with its own fdatasync. */
export function syncsPerSecond(folder: string): number {
  const rates: number[] = [];
  const block = Buffer.alloc(4_096, 'x');
  const file = openSync(join(folder, 'sync'), 'w');
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    let count = 0;
    for (; performance.now() - start < 400; count++) {
      writeSync(file, block);
      fdatasyncSync(file);
    }
    rates.push((count * 1_000) / (performance.now() - start));
  }
  closeSync(file);
  return median(rates);
}
