import type { SqliteDatabase } from '../../fabric/embedded/sqlite-module.ts';
import type { Availability } from '../../fabric/ports/availability.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { Random } from '../../fabric/ports/random.ts';
import { attempt, inTransaction } from './ledger-database.ts';
import { ledgerRows, presentStates, windowStates } from './ledger-rows.ts';
import type { LedgerRows } from './ledger-rows.ts';
import { unitsFor } from './free-at.ts';
import type { Ask } from './free-at.ts';
import { quotaAvailability, windowUse } from './quota-availability.ts';
import type {
  ExternalUse,
  QuotaLease,
  QuotaLedger,
  Reservation,
  WindowUse,
} from './quota-ledger.ts';
import { longestMs } from './quota-window.ts';
import type { QuotaWindow } from './quota-window.ts';

export interface SqliteLedgerOptions {
  /** From `openLedgerDatabase`; the ledger closes it. */
  readonly database: SqliteDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * The quota ledger in its own SQLite file, opened in this process. Each write is one durable commit on the
 * calling thread: 0.4–0.5 ms p50, 1–5 ms p99 on ext4 (`reference/toolchain.md` 7), next to a model call of
 * seconds; a second writer's lock adds up to 250 ms, then LedgerUnavailableError. A probe is a sum over an index.
 */
export function sqliteLedger({ database, clock, random, log }: SqliteLedgerOptions): QuotaLedger {
  const rows = ledgerRows(database);
  const now = () => wholeMs(clock.nowMs());
  const write = <Result>(doing: string, work: () => Result) =>
    attempt(doing, () => inTransaction(database, work));
  const read = <Result>(work: () => Result) => attempt('be read', work);
  return {
    availability: (windows, ask) => read(() => availabilityIn(rows, windows, ask, now())),
    uses: (windows) => read(() => usesIn(rows, windows, now())),
    reserve: (windows, request) => {
      const lease = { leaseId: random.hex(16), scope: windows[0]?.scope ?? '', atMs: now() };
      if (windows.length === 0) return { kind: 'reserved', lease };
      return write('reserve a call', () => reserveIn(rows, windows, request, lease));
    },
    commit: (leaseId, tokens) =>
      write('commit a call', () => void rows.settle(leaseId, 'committed', tokens)),
    release: (leaseId) => write('release a call', () => releaseIn(rows, leaseId)),
    markSpent: (window, untilMs) => {
      const spentUntilMs = wholeMs(untilMs ?? now() + longestMs(window));
      write('note a spent window', () => rows.spend(window, spentUntilMs, now()));
      log.warn('quota.drift', {
        scope: window.scope,
        window: window.id,
        untilMs: spentUntilMs,
        hint: 'another client uses this subscription; enter its calls as external use',
      });
      return spentUntilMs;
    },
    clearSpent: (window) => write('clear a spent window', () => rows.unspend(window)),
    recordExternal: (windows, use) =>
      write('enter external use', () => enterExternal(rows, windows, use, random.hex(16))),
    prune: (windows) => write('be pruned', () => pruneIn(rows, windows, now())),
    close: () => database.close(),
  };
}

/** Sums first; single uses are read only where a window is full and the question is until when. */
function availabilityIn(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  ask: Ask,
  nowMs: number,
): Availability {
  const present = quotaAvailability(presentStates(rows, windows, nowMs), ask, nowMs);
  if (present.a === 1) return present;
  return quotaAvailability(windowStates(rows, windows, nowMs), ask, nowMs);
}

function usesIn(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  nowMs: number,
): readonly WindowUse[] {
  return presentStates(rows, windows, nowMs).map((state) => {
    const use = windowUse(state, nowMs);
    if (use.freeAtMs === undefined) return use;
    const [whole] = windowStates(rows, [state.window], nowMs);
    return whole === undefined ? use : windowUse(whole, nowMs);
  });
}

function reserveIn(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  request: Parameters<QuotaLedger['reserve']>[1],
  lease: QuotaLease,
): Reservation {
  const { leaseId, atMs } = lease;
  const availability = availabilityIn(rows, windows, request, atMs);
  if (availability.a === 0) return { kind: 'spent', availability };
  const { units, caller: origin, agentId, taskId } = request;
  const by = { lease: leaseId, atMs, state: 'reserved', origin, agentId, taskId } as const;
  for (const window of onePerUnit(windows)) {
    const { scope, unit } = window;
    rows.insert({ ...by, scope, unit, units: unitsFor(window, units) });
  }
  openAnchored(rows, windows, atMs);
  return { kind: 'reserved', lease };
}

function releaseIn(rows: LedgerRows, leaseId: string): void {
  const scope = rows.settle(leaseId, 'released', undefined) > 0 ? rows.scopeOf(leaseId) : undefined;
  if (scope !== undefined) rows.reopen(scope);
}

function enterExternal(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  use: ExternalUse,
  lease: string,
): void {
  const atMs = wholeMs(use.atMs);
  const by = { lease, atMs, state: 'committed', origin: 'external' } as const;
  for (const window of onePerUnit(windows)) {
    const counted = { scope: window.scope, unit: window.unit, units: unitsFor(window, use) };
    rows.insert({ ...by, ...counted, agentId: null, taskId: null });
  }
  openAnchored(rows, windows, atMs);
}

function pruneIn(rows: LedgerRows, windows: readonly QuotaWindow[], nowMs: number): void {
  for (const [scope, keepMs] of keepByScope(windows)) rows.dropBefore(scope, nowMs - keepMs);
}

/** Sums of instants stay exact only in whole ms: a fraction made `freeAt` one ulp early in a prototype. */
const wholeMs = (ms: number): number => Math.ceil(ms);

function onePerUnit(windows: readonly QuotaWindow[]): readonly QuotaWindow[] {
  return [...new Map(windows.map((window) => [window.unit, window])).values()];
}

/** An anchored window that is closed opens with this use; an earlier use inside it opened it earlier. */
function openAnchored(rows: LedgerRows, windows: readonly QuotaWindow[], atMs: number): void {
  for (const window of windows) {
    if (window.shape.kind !== 'anchored') continue;
    const { lengthMs } = window.shape;
    const openedAtMs = rows.openedAt(window);
    const within = openedAtMs !== undefined && Math.abs(atMs - openedAtMs) < lengthMs;
    if (!within && atMs > (openedAtMs ?? -1)) rows.open(window, atMs);
    else if (within && atMs < openedAtMs) rows.open(window, atMs);
  }
}

/** Twice the longest window a scope: what is older can't be counted, even after a clock step back. */
function keepByScope(windows: readonly QuotaWindow[]): ReadonlyMap<string, number> {
  const keep = new Map<string, number>();
  for (const window of windows) {
    const keepMs = 2 * longestMs(window);
    keep.set(window.scope, Math.max(keepMs, keep.get(window.scope) ?? 0));
  }
  return keep;
}
