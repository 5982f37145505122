import type { QuotaWindow } from '../ledger/quota-window.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';

/** From this share of a window on, background may use the reserve: what is left over at the reset is lost. */
const releaseShare = 0.85;

/**
 * Units of `window` that a caller may use (`reference/litellm.md` 5.6 rules 1 and 3). `released` tells
 * whether the window is in its last 15 %; a sliding window never is, for it has no end.
 */
export function capFor(window: QuotaWindow, caller: CallerClass, released: boolean): number {
  if (caller === 'interactive' || released) return window.cap;
  return Math.floor(window.cap * (1 - window.reserveInteractive));
}

/** When a window that lasts from `fromMs` to `toMs` gives its reserve to background, ms since the epoch. */
export function releaseAtMs(fromMs: number, toMs: number): number {
  return fromMs + Math.ceil((toMs - fromMs) * releaseShare);
}
