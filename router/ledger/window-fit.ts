import { capFor, releaseAtMs } from '../governor/background-share.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import { periodAt } from './calendar-period.ts';
import type { QuotaWindow } from './quota-window.ts';

/** One counted use: reserved or committed, never released. */
export interface Use {
  readonly atMs: number;
  readonly units: number;
}

/** A window and all that decides how full it is. */
export interface WindowState {
  readonly window: QuotaWindow;
  /** Uses of the window's scope and unit, oldest first. */
  readonly uses: readonly Use[];
  /** Anchored windows: when the newest one opened, if any did. */
  readonly openedAtMs?: number;
  /** The provider said "full" until then, whatever we counted. */
  readonly spentUntilMs?: number;
}

/** The part of a window's life that holds an instant. A sliding window is always ending and never ends. */
interface Span {
  readonly used: number;
  readonly ends?: { readonly releaseAtMs: number; readonly toMs: number };
}

/** Uses after this instant, and only they, count at `atMs`; a closed window counts none. */
export function spanStartMs({ window, openedAtMs }: WindowState, atMs: number): number {
  const { shape } = window;
  switch (shape.kind) {
    case 'sliding':
      return atMs - shape.lengthMs;
    case 'anchored':
      return openedAtMs !== undefined && atMs < openedAtMs + shape.lengthMs
        ? openedAtMs - 1
        : Number.MAX_SAFE_INTEGER;
    case 'calendar':
      return periodAt(shape, atMs).fromMs - 1;
  }
}

/** Units counted at `atMs`. */
export const usedAt = (state: WindowState, atMs: number): number => spanAt(state, atMs).used;

function spanAt(state: WindowState, atMs: number): Span {
  const { shape } = state.window;
  switch (shape.kind) {
    case 'sliding':
      return { used: unitsAfter(state.uses, atMs - shape.lengthMs) };
    case 'anchored': {
      const { openedAtMs } = state;
      if (openedAtMs === undefined || atMs >= openedAtMs + shape.lengthMs) return { used: 0 };
      return ending(state.uses, openedAtMs, openedAtMs + shape.lengthMs);
    }
    case 'calendar': {
      const { fromMs, toMs } = periodAt(shape, atMs);
      return ending(state.uses, fromMs, toMs);
    }
  }
}

const ending = (uses: readonly Use[], fromMs: number, toMs: number): Span => ({
  used: unitsAfter(uses, fromMs - 1),
  ends: { releaseAtMs: releaseAtMs(fromMs, toMs), toMs },
});

function unitsAfter(uses: readonly Use[], afterMs: number): number {
  return uses.reduce((sum, use) => (use.atMs > afterMs ? sum + use.units : sum), 0);
}

/** Whether `units` more fit at `atMs`. */
export function fitsAt(
  state: WindowState,
  atMs: number,
  units: number,
  caller: CallerClass,
): boolean {
  if (state.spentUntilMs !== undefined && atMs < state.spentUntilMs) return false;
  const { used, ends } = spanAt(state, atMs);
  const released = ends !== undefined && atMs >= ends.releaseAtMs;
  return used + units <= capFor(state.window, caller, released);
}

/**
 * The first instant from `fromMs` on at which `units` fit, if nothing else is used; undefined where they
 * never will. Exact to the millisecond: what fits changes only at the instants tried here.
 */
export function nextFit(
  state: WindowState,
  fromMs: number,
  units: number,
  caller: CallerClass,
): number | undefined {
  const startMs = Math.max(fromMs, state.spentUntilMs ?? fromMs);
  return changesFrom(state, startMs).find((atMs) => fitsAt(state, atMs, units, caller));
}

function changesFrom(state: WindowState, startMs: number): readonly number[] {
  const { shape } = state.window;
  if (shape.kind === 'sliding') {
    const expiries = state.uses.map((use) => use.atMs + shape.lengthMs);
    return [startMs, ...expiries.filter((atMs) => atMs > startMs)];
  }
  const instants = [startMs];
  let cursorMs = startMs;
  // This span and the one after it: an empty window that is too small now stays too small.
  for (let span = 0; span < 2; span += 1) {
    const { ends } = spanAt(state, cursorMs);
    if (ends === undefined) break;
    if (ends.releaseAtMs > cursorMs) instants.push(ends.releaseAtMs);
    instants.push(ends.toMs);
    cursorMs = ends.toMs;
  }
  return instants;
}
