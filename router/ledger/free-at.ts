import type { CallerClass } from '../../fabric/ports/availability.ts';
import { longestMs } from './quota-window.ts';
import type { QuotaWindow } from './quota-window.ts';
import { nextFit } from './window-fit.ts';
import type { WindowState } from './window-fit.ts';

/** What one call takes from a scope. */
export interface Units {
  readonly request: number;
  /** An estimate before the call, the counted figure after it. */
  readonly token: number;
}

export interface Ask {
  readonly units: Units;
  readonly caller: CallerClass;
}

/** Units that `window` counts for a call. */
export const unitsFor = (window: QuotaWindow, units: Units): number => units[window.unit];

/**
 * The first instant from `fromMs` on at which the call fits every window, ms since the epoch; undefined
 * where it never will (it is larger than a window). The fixed point over the windows: each one's own next
 * fit is minimal, so their common one is reached from below and is minimal too
 * (`reference/litellm.md` 5.4). Changes nothing.
 */
export function freeAt(
  states: readonly WindowState[],
  fromMs: number,
  { units, caller }: Ask,
): number | undefined {
  const horizonMs = fromMs + 2 * Math.max(0, ...states.map(({ window }) => longestMs(window)));
  let atMs = fromMs;
  for (;;) {
    let laterMs = atMs;
    for (const state of states) {
      const fit = nextFit(state, laterMs, unitsFor(state.window, units), caller);
      if (fit === undefined) return undefined;
      laterMs = fit;
    }
    if (laterMs === atMs) return atMs;
    // Windows whose fits never meet would lead on for ever.
    if (laterMs > Math.max(horizonMs, ...states.map((state) => state.spentUntilMs ?? 0))) {
      return undefined;
    }
    atMs = laterMs;
  }
}
