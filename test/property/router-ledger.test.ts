import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capFor } from '../../router/governor/background-share.ts';
import { freeAt } from '../../router/ledger/free-at.ts';
import type { Ask } from '../../router/ledger/free-at.ts';
import type { QuotaWindow } from '../../router/ledger/quota-window.ts';
import { longestMs } from '../../router/ledger/quota-window.ts';
import { fitsAt, usedAt } from '../../router/ledger/window-fit.ts';
import type { Use, WindowState } from '../../router/ledger/window-fit.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 9, 20);

const shape: fc.Arbitrary<QuotaWindow['shape']> = fc.oneof(
  fc.record({
    kind: fc.constant('sliding' as const),
    lengthMs: fc.constantFrom(5 * hourMs, 168 * hourMs, 999),
  }),
  fc.record({
    kind: fc.constant('anchored' as const),
    lengthMs: fc.constantFrom(5 * hourMs, 168 * hourMs, 997),
  }),
  fc.record({
    kind: fc.constant('calendar' as const),
    every: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'),
  }),
);
const window: fc.Arbitrary<QuotaWindow> = fc.record({
  id: fc.constant('w'),
  scope: fc.constant('s'),
  unit: fc.constant('request' as const),
  cap: fc.integer({ min: 1, max: 12 }),
  shape,
  reserveInteractive: fc.constantFrom(0, 0.25, 0.5),
});
const uses: fc.Arbitrary<Use[]> = fc
  .array(
    fc.record({
      ago: fc.integer({ min: 0, max: 170 * hourMs }),
      units: fc.integer({ min: 1, max: 2 }),
    }),
    {
      maxLength: 14,
    },
  )
  .map((list) =>
    list
      .map(({ ago, units }) => ({ atMs: startMs - ago, units }))
      .sort((one, other) => one.atMs - other.atMs),
  );
const state: fc.Arbitrary<WindowState> = fc
  .tuple(
    window,
    uses,
    fc.option(fc.integer({ min: 1, max: 20 * hourMs }), { nil: undefined, freq: 5 }),
  )
  .map(([aWindow, list, spent]) => {
    const counted = list.filter((use) => use.atMs > startMs - longestMs(aWindow));
    const openedAtMs = counted[0]?.atMs;
    return {
      window: aWindow,
      uses: counted,
      ...(openedAtMs !== undefined && { openedAtMs }),
      ...(spent !== undefined && { spentUntilMs: startMs + spent }),
    };
  });
const ask: fc.Arbitrary<Ask> = fc.record({
  units: fc.record({ request: fc.integer({ min: 1, max: 3 }), token: fc.constant(0) }),
  caller: fc.constantFrom('interactive' as const, 'background' as const),
});

const allFit = (states: readonly WindowState[], atMs: number, { units, caller }: Ask) =>
  states.every((one) => fitsAt(one, atMs, units.request, caller));

describe('freeAt', { timeout: 60_000 }, () => {
  test('is free at that millisecond, not at the one before, nor at any probed earlier', () => {
    let parked = 0;
    fc.assert(
      fc.property(
        fc.array(state, { minLength: 1, maxLength: 3 }),
        ask,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 20 }),
        (states, anAsk, probes) => {
          const before = JSON.stringify(states);
          const atMs = freeAt(states, startMs, anAsk);
          expect(JSON.stringify(states)).toBe(before);
          const endMs = atMs ?? startMs + 40 * 24 * hourMs;
          if (atMs !== undefined) expect(allFit(states, atMs, anAsk)).toBe(true);
          if (atMs === startMs) return;
          parked += 1;
          if (atMs !== undefined) expect(allFit(states, atMs - 1, anAsk)).toBe(false);
          for (const probe of probes) {
            const probedMs = startMs + Math.floor(probe * (endMs - startMs));
            if (probedMs < endMs) expect(allFit(states, probedMs, anAsk)).toBe(false);
          }
        },
      ),
      { numRuns: 1_000, seed: 7 },
    );
    expect(parked).toBeGreaterThan(200);
  });

  test('background leaves the interactive share alone until the window is nearly over', () => {
    fc.assert(
      fc.property(state, ask, (one, { units }) => {
        if (!fitsAt(one, startMs, units.request, 'background')) return;
        const used = usedAt(one, startMs) + units.request;
        const released = used > capFor(one.window, 'background', false);
        if (released) expect(one.window.shape.kind).not.toBe('sliding');
        expect(used).toBeLessThanOrEqual(one.window.cap);
      }),
      { numRuns: 2_000, seed: 8 },
    );
  });
});
