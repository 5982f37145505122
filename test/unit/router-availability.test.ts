import { describe, expect, it } from 'vitest';
import type { WeeklyWindow } from '../../cards/schema/weekly-hours.ts';
import {
  breakerTerm,
  coolOffMs,
  failed,
  soundBreaker,
  started,
} from '../../router/availability/breaker.ts';
import { healthBook } from '../../router/availability/health-book.ts';
import { routerAvailability } from '../../router/availability/router-availability.ts';
import { product } from '../../router/availability/term.ts';
import { openAt } from '../../router/availability/working-hours.ts';
import type { QuotaLedger } from '../../router/ledger/quota-ledger.ts';
import type { Candidate } from '../../router/model-candidate.ts';
import { manualClock } from '../support/manual-clock.ts';

const minute = 60_000;
const window = (
  days: WeeklyWindow['days'],
  from: number,
  to: number,
  zone: string,
): WeeklyWindow => ({
  days,
  fromMinute: from * 60,
  toMinute: to * 60,
  zone,
});
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
const hours = (...windows: WeeklyWindow[]) => ({
  windows,
  holidays: [] as string[],
  vacation: false,
});

describe('working hours', () => {
  it('open and close on the minute', () => {
    const berlin = hours(window(weekdays, 9, 17, 'Europe/Berlin'));
    const opensAtMs = Date.UTC(2026, 10, 30, 8);
    expect(openAt(berlin, opensAtMs - 1)).toEqual({ open: false, opensAtMs });
    expect(openAt(berlin, opensAtMs)).toEqual({ open: true });
    expect(openAt(berlin, Date.UTC(2026, 10, 30, 16) - 1)).toEqual({ open: true });
    const tuesday = Date.UTC(2026, 11, 1, 8);
    expect(openAt(berlin, Date.UTC(2026, 10, 30, 16))).toEqual({ open: false, opensAtMs: tuesday });
  });

  it('keep their clock time across both changes of summer time', () => {
    const berlin = hours(window(['sun', 'mon'], 9, 17, 'Europe/Berlin'));
    // Clocks go forward on 2026-03-29 and back on 2026-10-25, both Sundays.
    expect(openAt(berlin, Date.UTC(2026, 2, 28, 20))).toEqual({
      open: false,
      opensAtMs: Date.UTC(2026, 2, 29, 7),
    });
    expect(openAt(berlin, Date.UTC(2026, 9, 24, 20))).toEqual({
      open: false,
      opensAtMs: Date.UTC(2026, 9, 25, 8),
    });
  });

  it('open at the skip where the clocks skip their hour, and at its first showing where it comes twice', () => {
    const night = hours(window(['sun'], 2, 4, 'Europe/Berlin'));
    expect(openAt(night, Date.UTC(2026, 2, 28, 20))).toEqual({
      open: false,
      opensAtMs: Date.UTC(2026, 2, 29, 1),
    });
    expect(openAt(night, Date.UTC(2026, 9, 24, 20))).toEqual({
      open: false,
      opensAtMs: Date.UTC(2026, 9, 25, 0),
    });
  });

  it('last over midnight, skip holidays, and stop for a vacation', () => {
    const late = hours(window(['mon'], 22, 6, 'UTC'));
    expect(openAt(late, Date.UTC(2026, 11, 1, 5, 59))).toEqual({ open: true });
    const nextMonday = Date.UTC(2026, 11, 7, 22);
    expect(openAt(late, Date.UTC(2026, 11, 1, 6))).toEqual({ open: false, opensAtMs: nextMonday });
    const holidays = ['2026-12-07'];
    const after = { open: false, opensAtMs: Date.UTC(2026, 11, 14, 22) };
    expect(openAt({ ...late, holidays }, Date.UTC(2026, 11, 1, 6))).toEqual(after);
    expect(openAt({ ...late, vacation: true }, nextMonday)).toEqual({ open: false });
  });

  it('stay closed from the first day of a vacation through its last one', () => {
    const vacation = { from: '2026-12-24', until: '2026-12-27', zone: 'Europe/Berlin' };
    const away = { ...hours(), vacation };
    const backAtMs = Date.UTC(2026, 11, 27, 23);
    expect(openAt(away, Date.UTC(2026, 11, 23, 23) - 1)).toEqual({ open: true });
    expect(openAt(away, Date.UTC(2026, 11, 23, 23))).toEqual({ open: false, opensAtMs: backAtMs });
    expect(openAt(away, backAtMs - 1)).toEqual({ open: false, opensAtMs: backAtMs });
    expect(openAt(away, backAtMs)).toEqual({ open: true });
    // The evening before, too, the next opening is the one after it: a Monday at nine.
    const atWork = { ...hours(window(weekdays, 9, 17, 'Europe/Berlin')), vacation };
    const opensAtMs = Date.UTC(2026, 11, 28, 8);
    expect(openAt(atWork, Date.UTC(2026, 11, 23, 20))).toEqual({ open: false, opensAtMs });
    expect(openAt(atWork, Date.UTC(2026, 11, 24, 10))).toEqual({ open: false, opensAtMs });
  });
});

describe('the product of terms', () => {
  it('is 1 again with the last of its zeros, and unknown with one that nobody can date', () => {
    expect(product([{ a: 1 }, { a: 1 }])).toEqual({ a: 1, reasons: [] });
    const two = [
      { a: 0, reason: 'x', untilMs: 5 },
      { a: 0, reason: 'y', untilMs: 9 },
    ] as const;
    expect(product([...two, { a: 1 }])).toEqual({ a: 0, reasons: ['x', 'y'], untilMs: 9 });
    const open = { a: 0, reason: 'z' } as const;
    expect(product([...two, open])).toEqual({ a: 0, reasons: ['x', 'y', 'z'] });
  });
});

describe('the breaker', () => {
  it('rests after three failures, longer each time, up to 15 minutes', () => {
    let breaker = soundBreaker;
    let nowMs = 0;
    const fail = () => (breaker = failed(breaker, 'transient', nowMs));
    fail();
    fail();
    expect(breakerTerm(breaker, nowMs)).toEqual({ a: 1 });
    const rests: number[] = [];
    for (let opening = 0; opening < 8; opening += 1) {
      fail();
      const term = breakerTerm(breaker, nowMs);
      if (term.a === 1 || term.untilMs === undefined) throw new Error('the breaker must rest');
      rests.push(term.untilMs - nowMs);
      nowMs = term.untilMs;
      expect(breakerTerm(breaker, nowMs)).toEqual({ a: 1 });
    }
    expect(rests).toEqual([30, 60, 120, 240, 480, 900, 900, 900].map((seconds) => seconds * 1_000));
    expect(coolOffMs(1)).toBe(30_000);
  });

  it('lets one call try, and the rest wait for it', () => {
    const open = failed(soundBreaker, 'config', 0);
    const probing = started(open, 15 * minute);
    expect(breakerTerm(probing, 15 * minute)).toMatchObject({ a: 0 });
    expect(breakerTerm(started(soundBreaker, 0), 0)).toEqual({ a: 1 });
  });

  it.each(['too-long', 'refused', 'aborted', 'quota-spent'] as const)(
    'learns nothing from %s',
    (kind) => {
      expect(failed(soundBreaker, kind, 0)).toEqual(soundBreaker);
    },
  );
});

describe('availability of registered agents', () => {
  const clock = manualClock();
  const silent = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const free: Pick<QuotaLedger, 'availability' | 'uses'> = {
    availability: () => ({ a: 1, reasons: [] }),
    uses: () => [],
  };
  const shared = { trust: 'trusted', caps: [], optInMetered: [] } as const;
  const model: Candidate = {
    ...shared,
    kind: 'model',
    agentId: 'local-small',
    gatewayModel: 'tier/small',
    tier: 'small',
    cost: 'free-local',
    contextTokens: 8_000,
    tools: false,
    modality: ['text'],
    windows: [],
    maxParallel: 1,
    rank: 0,
    deploymentIds: [],
  };
  const persona: Candidate = {
    ...shared,
    kind: 'persona',
    agentId: 'adolf',
    need: { tier: 'small' },
  };
  const bot: Candidate = { ...shared, kind: 'fixed', agentId: 'link-checker', cost: 'free-local' };
  const build = (gatewayConfigured: boolean) => {
    const health = healthBook({ clock, log: silent });
    const probe = routerAvailability({
      agents: () => ({
        commit: 'c',
        candidates: new Map([model, persona, bot].map((one) => [one.agentId, one])),
      }),
      gatewayConfigured,
      health,
      ledger: free as QuotaLedger,
      clock,
      budgets: () => new Map(),
      warm: () => new Set(),
    });
    return { health, probe };
  };

  it('without a gateway models and personas park, and all else works', () => {
    const { probe } = build(false);
    for (const agentId of ['local-small', 'adolf']) {
      const { a, reasons } = probe.at(agentId);
      expect(a).toBe(0);
      expect(reasons.join()).toContain('no gateway configured');
    }
    expect(probe.at('link-checker')).toEqual({ a: 1, reasons: [] });
    expect(probe.at('nobody')).toMatchObject({ a: 0 });
  });

  it('a persona is as available as its backbone', () => {
    const { probe, health } = build(true);
    expect(probe.at('adolf')).toEqual({ a: 1, reasons: [] });
    const message = 'The call to tier/small failed.';
    health.failed('local-small', {
      ok: false,
      class: 'config',
      message,
      retry: 'never',
      notSent: true,
    });
    expect(probe.at('adolf')).toMatchObject({ a: 0, untilMs: clock.nowMs() + 15 * minute });
    health.succeeded('local-small');
    health.gatewaySeen(false);
    expect(probe.at('adolf').a).toBe(0);
    health.gatewaySeen(true);
    expect(probe.at('adolf').a).toBe(1);
  });
});
