import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite } from '../../fabric/embedded/sqlite-module.ts';
import type { SqliteModule } from '../../fabric/embedded/sqlite-module.ts';
import type { LogFields } from '../../fabric/ports/log.ts';
import { openLedgerDatabase } from '../../router/ledger/ledger-database.ts';
import type { QuotaLedger } from '../../router/ledger/quota-ledger.ts';
import type { QuotaWindow } from '../../router/ledger/quota-window.ts';
import { sqliteLedger } from '../../router/ledger/sqlite-ledger.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import { manualClock } from '../support/manual-clock.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const hourMs = 3_600_000;
const base = { scope: 'kimi', unit: 'request', reserveInteractive: 0.25 } as const;
const fiveHours: QuotaWindow = {
  ...base,
  id: '5h',
  cap: 60,
  shape: { kind: 'sliding', lengthMs: 5 * hourMs },
};
const week: QuotaWindow = {
  ...base,
  id: 'week',
  cap: 300,
  shape: { kind: 'sliding', lengthMs: 168 * hourMs },
};
const one = (caller: CallerClass) => ({ units: { request: 1, token: 0 }, caller });
const by = { agentId: 'kimi', taskId: 'a'.repeat(32) };

let sqlite: SqliteModule;
let folder: string;
let clock: ManualClock;
let seed = 0;
const open: QuotaLedger[] = [];
const warnings: [string, LogFields | undefined][] = [];

function openLedger(path = join(folder, 'ledger.db')): QuotaLedger {
  seed += 1;
  const quiet = () => undefined;
  const log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (event: string, fields?: LogFields) => void warnings.push([event, fields]),
  };
  const database = openLedgerDatabase(sqlite, path);
  const ledger = sqliteLedger({ database, clock, random: seededRandom(seed), log });
  open.push(ledger);
  return ledger;
}

beforeEach(async () => {
  sqlite = await loadSqlite();
  folder = mkdtempSync(join(tmpdir(), 'mesh-ledger-'));
  clock = manualClock();
  warnings.length = 0;
});
afterEach(() => {
  for (const ledger of open.splice(0)) ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the quota ledger on SQLite', () => {
  it('never exceeds a window in three weeks of random arrivals, and parks to the millisecond', async () => {
    const ledger = openLedger(':memory:');
    const random = seededRandom(42);
    const windows = [fiveHours, week];
    const taken: number[] = [];
    const within = (atMs: number, lengthMs: number) =>
      taken.filter((takenMs) => takenMs > atMs - lengthMs && takenMs <= atMs).length;
    const endMs = clock.nowMs() + 21 * 24 * hourMs;
    let parks = 0;
    while (clock.nowMs() < endMs) {
      await clock.advance(Math.ceil(-Math.log(1 - random.fraction()) * 240_000 * 5));
      const caller = random.fraction() < 0.3 ? 'interactive' : 'background';
      const reservation = ledger.reserve(windows, { ...one(caller), ...by });
      if (reservation.kind === 'reserved') {
        const atMs = clock.nowMs();
        taken.push(atMs);
        ledger.commit(reservation.lease.leaseId);
        expect(within(atMs, 5 * hourMs)).toBeLessThanOrEqual(caller === 'background' ? 45 : 60);
        expect(within(atMs, 168 * hourMs)).toBeLessThanOrEqual(caller === 'background' ? 225 : 300);
        continue;
      }
      parks += 1;
      if (parks % 20 !== 0) continue;
      const untilMs = reservation.availability.untilMs ?? 0;
      expect(untilMs).toBeGreaterThan(clock.nowMs());
      const nowMs = clock.nowMs();
      clock.step(untilMs - nowMs - 1);
      expect(ledger.availability(windows, one(caller)).a).toBe(0);
      clock.step(1);
      expect(ledger.availability(windows, one(caller)).a).toBe(1);
      clock.step(nowMs - untilMs);
    }
    expect(parks).toBeGreaterThan(100);
    expect(taken.length).toBeGreaterThan(600);
  }, 60_000);

  it('counts a reservation whose caller died, after a restart too', () => {
    const two: QuotaWindow = { ...fiveHours, cap: 2, reserveInteractive: 0 };
    const first = openLedger();
    const held = first.reserve([two], { ...one('interactive'), ...by });
    const freed = first.reserve([two], { ...one('interactive'), ...by });
    if (held.kind !== 'reserved' || freed.kind !== 'reserved') throw new Error('both fit');
    first.release(freed.lease.leaseId);
    open.splice(0);
    first.close();
    const second = openLedger();
    expect(second.uses([two])).toMatchObject([{ used: 1 }]);
    expect(second.reserve([two], { ...one('interactive'), ...by }).kind).toBe('reserved');
    const spent = second.reserve([two], { ...one('interactive'), ...by });
    expect(spent).toMatchObject({
      kind: 'spent',
      availability: { untilMs: clock.nowMs() + 5 * hourMs },
    });
    second.release(held.lease.leaseId);
    second.commit(held.lease.leaseId);
    expect(second.uses([two])).toMatchObject([{ used: 1 }]);
  });

  it('lets two writers on one file take no more than there is', () => {
    const writers = [openLedger(), openLedger()] as const;
    const ten: QuotaWindow = { ...fiveHours, cap: 10 };
    const taken = Array.from({ length: 40 }, (_, index) =>
      writers[index % 2 === 0 ? 0 : 1].reserve([ten], { ...one('interactive'), ...by }),
    ).filter(({ kind }) => kind === 'reserved');
    expect(taken).toHaveLength(10);
    expect(writers[0].uses([ten])).toEqual(writers[1].uses([ten]));
  });

  it('keeps a quarter for people who wait', () => {
    const ledger = openLedger();
    const four: QuotaWindow = { ...fiveHours, cap: 4 };
    const background = () => ledger.reserve([four], { ...one('background'), ...by });
    expect([background(), background(), background()].map(({ kind }) => kind)).toEqual(
      Array(3).fill('reserved'),
    );
    expect(background()).toMatchObject({ kind: 'spent' });
    expect(ledger.reserve([four], { ...one('interactive'), ...by }).kind).toBe('reserved');
    expect(ledger.reserve([four], { ...one('interactive'), ...by }).kind).toBe('spent');
  });

  it('opens an anchored window at its first use, and not for a use that never was', () => {
    const ledger = openLedger();
    const anchored: QuotaWindow = {
      ...base,
      id: 'a',
      cap: 1,
      shape: { kind: 'anchored', lengthMs: hourMs },
    };
    const first = ledger.reserve([anchored], { ...one('interactive'), ...by });
    if (first.kind !== 'reserved') throw new Error('an empty window has room');
    ledger.release(first.lease.leaseId);
    clock.step(1_000);
    expect(ledger.reserve([anchored], { ...one('interactive'), ...by }).kind).toBe('reserved');
    const untilMs = clock.nowMs() + hourMs;
    expect(ledger.availability([anchored], one('interactive'))).toMatchObject({ a: 0, untilMs });
    clock.step(hourMs);
    expect(ledger.reserve([anchored], { ...one('interactive'), ...by }).kind).toBe('reserved');
  });

  it('corrects the estimate of tokens by what was counted', () => {
    const ledger = openLedger();
    const tokens: QuotaWindow = {
      ...base,
      id: 't',
      unit: 'token',
      cap: 1_000,
      shape: { kind: 'sliding', lengthMs: hourMs },
    };
    const asked = { units: { request: 1, token: 600 }, caller: 'interactive', ...by } as const;
    const reservation = ledger.reserve([fiveHours, tokens], asked);
    if (reservation.kind !== 'reserved') throw new Error('it fits');
    expect(ledger.reserve([fiveHours, tokens], asked).kind).toBe('spent');
    ledger.commit(reservation.lease.leaseId, 150);
    expect(ledger.uses([fiveHours, tokens]).map(({ used }) => used)).toEqual([1, 150]);
  });

  it('believes the provider against its own count, until the reset it named', () => {
    const ledger = openLedger();
    const untilMs = clock.nowMs() + hourMs;
    expect(ledger.markSpent(fiveHours, untilMs)).toBe(untilMs);
    expect(warnings).toMatchObject([['quota.drift', { scope: 'kimi', window: '5h' }]]);
    expect(ledger.availability([fiveHours], one('interactive'))).toMatchObject({ a: 0, untilMs });
    clock.step(hourMs);
    expect(ledger.availability([fiveHours], one('interactive'))).toEqual({ a: 1, reasons: [] });
    expect(ledger.markSpent(fiveHours)).toBe(clock.nowMs() + 5 * hourMs);
    ledger.clearSpent(fiveHours);
    expect(ledger.availability([fiveHours], one('interactive')).a).toBe(1);
  });

  it('counts what others used, and forgets only what no window can count', () => {
    const ledger = openLedger();
    ledger.recordExternal([fiveHours], { atMs: clock.nowMs() - hourMs, request: 60, token: 0 });
    const untilMs = clock.nowMs() + 4 * hourMs;
    expect(ledger.availability([fiveHours], one('interactive'))).toMatchObject({ a: 0, untilMs });
    ledger.prune([fiveHours]);
    expect(ledger.uses([fiveHours])).toMatchObject([{ used: 60 }]);
    clock.step(20 * hourMs);
    ledger.prune([fiveHours]);
    clock.step(-19 * hourMs);
    expect(ledger.uses([fiveHours])).toMatchObject([{ used: 0 }]);
  });
});
