import { expect, it } from 'vitest';
import { askedSeed, failureText, runEpisodes } from './many-episodes.ts';
import { raceWindows } from './race-windows.ts';

const tasks = 300;
const asked = askedSeed();
const claims = asked === undefined ? 20_000 : 1;
/** That chance goes there at all; the full run, fifty times as long, asks for a hundred. */
const leastHits = 1;

it(
  `does nothing twice and loses nothing in ${claims} simulated claims`,
  { timeout: 480_000 },
  async () => {
    const result = await runEpisodes({ firstSeed: asked ?? 1, claims, tasks });
    process.stdout.write(
      `simulation: ${result.claims} claims in ${result.episodes} episodes from seed ${asked ?? 1}\n` +
        `${result.windows.toString()}\n`,
    );
    expect(failureText(result)).toBe('');
    if (asked === undefined) expect(result.windows.below(leastHits)).toEqual([]);
  },
);

/** Each of them once showed something that was wrong. */
it.each([21, 52, 7_000_029, 1_190_007])(
  'stays well with seed %i',
  { timeout: 120_000 },
  async (firstSeed) => {
    expect(failureText(await runEpisodes({ firstSeed, claims: 1, tasks }))).toBe('');
  },
);

it('is the same for the same seed', { timeout: 60_000 }, async () => {
  const once = () => runEpisodes({ firstSeed: asked ?? 7, claims: 1, tasks: 60 });
  const [one, other] = [await once(), await once()];
  expect(other.claims).toBe(one.claims);
  expect(other.windows.toString()).toBe(one.windows.toString());
  expect(Object.keys(raceWindows).length).toBeGreaterThanOrEqual(25);
});
