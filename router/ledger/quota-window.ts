/** What a provider counts. `calendar` windows start at local midnight of their unit, in `zone`. */
export interface QuotaWindow {
  /** `5h`, `week`: unique within the scope. */
  readonly id: string;
  /** The subscription; several Cards may share one. */
  readonly scope: string;
  readonly unit: 'request' | 'token';
  readonly cap: number;
  /** Sliding counts the last `lengthMs`; anchored opens at its first use and ends `lengthMs` later. */
  readonly shape:
    | { readonly kind: 'sliding'; readonly lengthMs: number }
    | { readonly kind: 'anchored'; readonly lengthMs: number }
    | {
        readonly kind: 'calendar';
        readonly every: 'day' | 'week' | 'month';
        readonly zone: string;
        /** ISO weekday a week starts on; LiteLLM's budgets use 7, Sunday. */
        readonly weekStartsOn?: 1 | 2 | 3 | 4 | 5 | 6 | 7;
      };
  /** Share of the cap, 0..1, that background work leaves to people who wait. */
  readonly reserveInteractive: number;
}

const dayMs = 86_400_000;

/** The longest a window can last, ms: nothing is known to be blocked for longer than this. */
export function longestMs(window: QuotaWindow): number {
  const { shape } = window;
  if (shape.kind !== 'calendar') return shape.lengthMs;
  // One hour more than the nominal unit, for the day on which clocks go back.
  return { day: 1, week: 7, month: 31 }[shape.every] * dayMs + 3_600_000;
}
