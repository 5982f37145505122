import { describe, expect, it } from 'vitest';
import { holdOf } from '../../fabric/queue/hold.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { builtAtMs } from '../support/board-builders.ts';
import { taskIn } from '../support/task-in-phase.ts';

const working = taskIn('working');
const { fence, leaseMs } = working.claim!;
const beats = (lastAtMs?: number, version: number = fence) => ({
  ...{ version, count: builtAtMs },
  ...(lastAtMs === undefined ? {} : { lastAtMs }),
});
const endMs = builtAtMs + leaseMs;

describe('how the holder of a claim stands', () => {
  it.each([
    ['just taken', undefined, builtAtMs, false, 'alive', endMs],
    ['one ms before its lease ends', beats(), endMs - 1, false, 'alive', endMs],
    ['at the end of its lease', beats(), endMs, false, 'lapsed', endMs],
    ['renewed', beats(endMs - 1), endMs, false, 'alive', endMs - 1 + leaseMs],
    ['renewed, and silent since', beats(endMs), endMs + leaseMs, false, 'lapsed', endMs + leaseMs],
    ['another claim was renewed', beats(endMs, fence - 1), endMs, false, 'lapsed', endMs],
    ['dead before its lease ends', beats(), builtAtMs + 1, true, 'dead', endMs],
  ] as const)('%s', (_name, seen, nowMs, isDead, standing, leaseEndsAtMs) => {
    const hold = holdOf({ state: working, beats: seen }, nowMs, isDead);
    expect(hold).toEqual({ standing, leaseEndsAtMs });
  });

  it('is nothing where nobody holds the task', () => {
    expect(holdOf({ state: taskIn('ready'), beats: undefined }, endMs, true)).toBeUndefined();
  });
});

describe.each(['claimed', 'working'] as const)('why a task is %s', (phase) => {
  it.each([
    ['alive', /has worked on it for 300 s/],
    ['lapsed', /its lease is over since .* a running mesh takes it back/],
    ['dead', /its process is dead: a running mesh takes it back/],
  ] as const)('says how its holder stands: %s', (standing, words) => {
    const around = { nowMs: builtAtMs + 300_000, hold: { standing, leaseEndsAtMs: endMs } };
    expect(whyWaiting(taskIn(phase), around)).toMatch(words);
  });
});

describe('why a task of a restored board waits', () => {
  const frozen = 'The board was restored: mesh board restore --accept';
  const why = (phase: Parameters<typeof taskIn>[0]) =>
    whyWaiting(taskIn(phase), { nowMs: builtAtMs, frozen });

  it('is that alone where it could be taken', () => {
    expect(why('ready')).toBe(`${frozen}.`);
  });

  it('is that as well where it waits for something else', () => {
    expect(why('paused')).toBe(`A person paused it (mesh task resume). ${frozen}.`);
  });

  it('is nothing where it is over', () => {
    expect(why('verified')).toBe('It waits for nothing: it is verified.');
  });
});
