import { expect, it } from 'vitest';
import { failureText, runEpisodes } from './many-episodes.ts';
import { WindowCounts } from './race-windows.ts';

const chunk = 25_000;

/**
 * Half a million claims, chunk by chunk, each from seeds of its own; every race window has to have been
 * hit a hundred times. Two files of it make the full run, so that both processors have one.
 */
export function simulateHalfAMillion(firstSeed: number): void {
  const windows = new WindowCounts();
  const chunks = Array.from({ length: 500_000 / chunk }, (_, n) => firstSeed + n * 10_000);

  it.each(chunks)('does nothing twice, from seed %i', { timeout: 600_000 }, async (seed) => {
    const result = await runEpisodes({ firstSeed: seed, claims: chunk, tasks: 300 });
    windows.add(result.windows);
    expect(failureText(result)).toBe('');
  });

  it('was in every narrow place a hundred times', () => {
    process.stdout.write(`simulation from seed ${firstSeed}:\n${windows.toString()}\n`);
    expect(windows.below(100)).toEqual([]);
  });
}
