import type { SqliteDatabase } from '../../fabric/embedded/sqlite-module.ts';
import type { QuotaWindow } from './quota-window.ts';
import { longestMs } from './quota-window.ts';
import { spanStartMs } from './window-fit.ts';
import type { Use, WindowState } from './window-fit.ts';

export interface NewUse {
  readonly lease: string;
  readonly scope: string;
  readonly unit: QuotaWindow['unit'];
  readonly atMs: number;
  readonly units: number;
  readonly state: 'reserved' | 'committed';
  readonly origin: 'interactive' | 'background' | 'external';
  readonly agentId: string | null;
  readonly taskId: string | null;
}

/** The ledger's statements, prepared once; each runs in whatever transaction is open. */
export type LedgerRows = ReturnType<typeof ledgerRows>;

export const ledgerRows = (db: SqliteDatabase) => ({ ...useRows(db), ...markRows(db) });

function useRows(db: SqliteDatabase) {
  const insert = db.prepare('INSERT INTO use VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const counted = `FROM use WHERE scope = ? AND unit = ? AND at_ms > ? AND state <> 'released'`;
  const each = db.prepare(`SELECT at_ms AS atMs, units ${counted} ORDER BY at_ms`);
  const sum = db.prepare(`SELECT coalesce(sum(units), 0) AS units ${counted}`);
  const settle = db.prepare(
    `UPDATE use SET state = ?, units = CASE unit WHEN 'token' THEN coalesce(?, units) ELSE units END
     WHERE lease = ? AND state = 'reserved'`,
  );
  const scopeOf = db.prepare('SELECT scope FROM use WHERE lease = ? LIMIT 1');
  const drop = db.prepare('DELETE FROM use WHERE scope = ? AND at_ms < ?');
  return {
    insert: ({ lease, scope, unit, atMs, units, state, origin, agentId, taskId }: NewUse) =>
      void insert.run(lease, scope, unit, atMs, units, state, origin, agentId, taskId),
    usesAfter: (scope: string, unit: QuotaWindow['unit'], afterMs: number) =>
      each.all(scope, unit, afterMs) as Use[],
    sumAfter: (scope: string, unit: QuotaWindow['unit'], afterMs: number) =>
      (sum.get(scope, unit, afterMs) as { units: number }).units,
    settle: (lease: string, state: 'committed' | 'released', tokens: number | undefined) =>
      Number(settle.run(state, tokens ?? null, lease).changes),
    scopeOf: (lease: string) => (scopeOf.get(lease) as { scope: string } | undefined)?.scope,
    dropBefore: (scope: string, atMs: number) => void drop.run(scope, atMs),
  };
}

function markRows(db: SqliteDatabase) {
  const opening = db.prepare(
    'SELECT opened_at_ms AS atMs FROM opening WHERE scope = ? AND window = ?',
  );
  const open = db.prepare('INSERT OR REPLACE INTO opening VALUES (?, ?, ?)');
  const reopen = db.prepare(
    `UPDATE opening SET opened_at_ms = coalesce(
       (SELECT min(at_ms) FROM use
        WHERE scope = opening.scope AND state <> 'released' AND at_ms >= opened_at_ms), -1)
     WHERE scope = ?`,
  );
  const unopen = db.prepare('DELETE FROM opening WHERE scope = ? AND opened_at_ms = -1');
  const spent = db.prepare('SELECT until_ms AS atMs FROM spent WHERE scope = ? AND window = ?');
  const spend = db.prepare('INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)');
  const unspend = db.prepare('DELETE FROM spent WHERE scope = ? AND window = ?');
  const instant = (row: unknown) => (row as { atMs: number } | undefined)?.atMs;
  return {
    openedAt: (window: QuotaWindow) => instant(opening.get(window.scope, window.id)),
    open: (window: QuotaWindow, atMs: number) => void open.run(window.scope, window.id, atMs),
    /** After a release: a window opened by that use alone never opened. */
    reopen: (scope: string) => {
      reopen.run(scope);
      unopen.run(scope);
    },
    spentUntil: (window: QuotaWindow) => instant(spent.get(window.scope, window.id)),
    spend: (window: QuotaWindow, untilMs: number, nowMs: number) =>
      void spend.run(window.scope, window.id, untilMs, nowMs),
    unspend: (window: QuotaWindow) => void unspend.run(window.scope, window.id),
  };
}

/** The windows with all that was written about them, for questions about the future. */
export function windowStates(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  nowMs: number,
): readonly WindowState[] {
  return windows.map((window) => {
    const { scope, unit } = window;
    return {
      ...marks(rows, window, nowMs),
      uses: rows.usesAfter(scope, unit, nowMs - longestMs(window)),
    };
  });
}

/** The same with all uses of the current span as one: right for `nowMs` only, and cheap however many they are. */
export function presentStates(
  rows: LedgerRows,
  windows: readonly QuotaWindow[],
  nowMs: number,
): readonly WindowState[] {
  return windows.map((window) => {
    const empty = { ...marks(rows, window, nowMs), uses: [] };
    const units = rows.sumAfter(window.scope, window.unit, spanStartMs(empty, nowMs));
    return { ...empty, uses: [{ atMs: nowMs, units }] };
  });
}

function marks(rows: LedgerRows, window: QuotaWindow, nowMs: number): Omit<WindowState, 'uses'> {
  const openedAtMs = rows.openedAt(window);
  const spentUntilMs = rows.spentUntil(window);
  return {
    window,
    ...(openedAtMs !== undefined && { openedAtMs }),
    ...(spentUntilMs !== undefined && spentUntilMs > nowMs && { spentUntilMs }),
  };
}
