import type { Availability } from '../../fabric/ports/availability.ts';
import type { Ask } from './free-at.ts';
import type { QuotaWindow } from './quota-window.ts';

/** The right to make one call; it counts from its reservation on, whatever becomes of the caller. */
export interface QuotaLease {
  readonly leaseId: string;
  readonly scope: string;
  readonly atMs: number;
}

export type Reservation =
  | { readonly kind: 'reserved'; readonly lease: QuotaLease }
  | { readonly kind: 'spent'; readonly availability: Availability };

/** How full one window is, for people and for the order of choice. */
export interface WindowUse {
  readonly window: QuotaWindow;
  readonly used: number;
  /** When one more request (or the first token) fits; absent: now, or never known. */
  readonly freeAtMs?: number;
}

/**
 * What each subscription has left. State is what was written: it survives a restart, and every writer of
 * the same store sees it. All calls are synchronous and cost a local disk access, no network.
 */
export interface QuotaLedger {
  /** Whether a call fits now. Writes nothing. All windows must be of one scope. */
  availability(windows: readonly QuotaWindow[], ask: Ask): Availability;
  uses(windows: readonly QuotaWindow[]): readonly WindowUse[];
  /**
   * Takes the call's units if they fit, durably before it returns: a caller that dies after this has spent
   * them. Without windows nothing is counted and the lease is good for ever.
   */
  reserve(
    windows: readonly QuotaWindow[],
    ask: Ask & { readonly agentId: string; readonly taskId: string },
  ): Reservation;
  /** The provider counted the call, or may have; `tokens` corrects the estimate. Repeating it is fine. */
  commit(leaseId: string, tokens?: number): void;
  /** Only where it is certain that nothing was sent. A committed lease stays committed. */
  release(leaseId: string): void;
  /**
   * The provider says a window is full though we counted room (somebody else uses the subscription).
   * @returns until when the window counts as full, ms since the epoch: `untilMs`, else one whole window.
   */
  markSpent(window: QuotaWindow, untilMs?: number): number;
  /** An operator knows better than the mark of `markSpent`. */
  clearSpent(window: QuotaWindow): void;
  /** Use of the same subscription by somebody outside the mesh. */
  recordExternal(windows: readonly QuotaWindow[], use: ExternalUse): void;
  /** Drops what no window can count any more. For idle moments. */
  prune(windows: readonly QuotaWindow[]): void;
  close(): void;
}

export interface ExternalUse {
  readonly atMs: number;
  readonly request: number;
  readonly token: number;
}
