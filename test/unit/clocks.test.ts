import { describe, expect, it } from 'vitest';
import type { Clock } from '../../fabric/ports/clock.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { manualClock } from '../support/manual-clock.ts';
import { simulatedProcess } from '../simulation/process.ts';
import { virtualTime } from '../simulation/virtual-time.ts';
import { seededRandom } from '../support/seeded-random.ts';

const clocks: Record<string, () => { clock: Clock; pass: (ms: number) => Promise<void> }> = {
  'the system’s': () => ({ clock: systemClock, pass: (ms) => systemClock.sleep(ms) }),
  'that of a test': () => {
    const clock = manualClock();
    return { clock, pass: (ms) => clock.advance(ms) };
  },
  'that of the simulation': () => {
    const time = virtualTime();
    const options = { incarnation: 'p', host: 'a', random: seededRandom(1) };
    const { clock } = simulatedProcess(time, options);
    const pass = async (ms: number) => {
      let isOver = false;
      // Its clock runs up to half a percent off.
      time.after(ms * 1.02, () => (isOver = true));
      await time.run(Infinity, () => isOver);
    };
    return { clock, pass };
  },
};

describe.each(Object.keys(clocks))('a clock: %s', (name) => {
  it('calls what is due once, in order, and nothing that was called off', async () => {
    const { clock, pass } = clocks[name]!();
    const called: string[] = [];
    clock.after(30, () => called.push('late'));
    const callOff = clock.after(20, () => called.push('called off'));
    clock.after(10, () => called.push('early'));
    callOff();
    expect(called).toEqual([]);
    await pass(60);
    expect(called).toEqual(['early', 'late']);
    callOff();
    await pass(60);
    expect(called).toEqual(['early', 'late']);
  });

  it('sleeps until it is time, and not on where it is told', async () => {
    const { clock, pass } = clocks[name]!();
    const stop = new AbortController();
    const woken: string[] = [];
    void clock.sleep(20).then(() => woken.push('slept'));
    void clock.sleep(60_000, stop.signal).then(() => woken.push('told'));
    stop.abort('enough');
    await pass(40);
    expect(woken).toEqual(['told', 'slept']);
  });
});
