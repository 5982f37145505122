import { counted } from '../../fabric/domain/counted.ts';
import type { Availability } from '../../fabric/ports/availability.ts';
import { capFor } from '../governor/background-share.ts';
import { clockText } from '../wall-time.ts';
import { freeAt, unitsFor } from './free-at.ts';
import type { Ask } from './free-at.ts';
import type { WindowUse } from './quota-ledger.ts';
import { fitsAt, nextFit, usedAt } from './window-fit.ts';
import type { WindowState } from './window-fit.ts';

/** Whether the call fits every window now; if not, which ones are full and when it will. Pure. */
export function quotaAvailability(
  states: readonly WindowState[],
  ask: Ask,
  nowMs: number,
): Availability {
  const full = states.filter(
    (state) => !fitsAt(state, nowMs, unitsFor(state.window, ask.units), ask.caller),
  );
  if (full.length === 0) return { a: 1, reasons: [] };
  const untilMs = freeAt(states, nowMs, ask);
  const reasons = full.map((state) => reasonFor(state, ask, nowMs));
  return { a: 0, reasons, ...(untilMs !== undefined && { untilMs }) };
}

function reasonFor(state: WindowState, { units, caller }: Ask, nowMs: number): string {
  const { window, spentUntilMs } = state;
  const name = `${window.scope}/${window.id}`;
  if (spentUntilMs !== undefined && nowMs < spentUntilMs) {
    return `the provider called ${name} full until ${clockText(spentUntilMs, nowMs)}`;
  }
  const asked = unitsFor(window, units);
  const cap = capFor(window, caller, false);
  if (asked > cap)
    return `the call needs ${counted(asked, window.unit)} and ${name} has ${cap} at most`;
  const used = `${usedAt(state, nowMs)} of ${counted(window.cap, window.unit)} used in ${name}`;
  const reserve = cap < window.cap ? `; ${window.cap - cap} are kept for people who wait` : '';
  return used + reserve;
}

/** The bars of a status page. Pure. */
export function windowUse(state: WindowState, nowMs: number): WindowUse {
  const freeAtMs = nextFit(state, nowMs, 1, 'interactive');
  return {
    window: state.window,
    used: usedAt(state, nowMs),
    ...(freeAtMs !== undefined && freeAtMs > nowMs && { freeAtMs }),
  };
}
