import { z } from 'zod';
import { Duration } from './duration.ts';
import { DailyHours, TimeZone, WeeklyWindow } from './weekly-hours.ts';

/** What a model needs on its node before it can answer. */
export const Residency = z.strictObject({
  node: z.string().min(1).max(64),
  vramMib: z.int().positive(),
  /** Never evicted to make room. */
  pinned: z.boolean().default(false),
  /** Models of one group may be loaded together. */
  group: z.string().min(1).max(64).exactOptional(),
});
export type Residency = z.infer<typeof Residency>;

/** Money a metered agent may spend in one period. */
export const Budget = z
  .strictObject({ capUsd: z.number().positive().max(1_000_000), every: Duration })
  .transform(({ capUsd, every }) => ({ capUsd, everyMs: every }));
export type Budget = z.infer<typeof Budget>;

/** Whole days away, both of them included, by the calendar of `zone`. */
export interface Vacation {
  readonly from: string;
  readonly until: string;
  readonly zone: string;
}

const VacationDays = z
  .strictObject({ from: z.iso.date(), until: z.iso.date(), zone: TimeZone.exactOptional() })
  .refine(({ from, until }) => from <= until, {
    error: 'until is the last day away, so not before from',
    path: ['until'],
  });

/**
 * When an agent can work, as terms of one product (`DESIGN.md` 9): every term that is present must
 * hold. No term at all: always. `onDemand` = absent until something wakes it.
 */
export interface AvailabilityTerms {
  readonly windows: readonly WeeklyWindow[];
  /** ISO dates (`2026-12-24`) in the zone of the windows on which nothing is open. */
  readonly holidays: readonly string[];
  /** True: until told otherwise, nobody knows when it ends. */
  readonly vacation: boolean | Vacation;
  readonly onDemand: boolean;
  readonly residency?: Residency;
  readonly budget?: Budget;
}

const none: AvailabilityTerms = { windows: [], holidays: [], vacation: false, onDemand: false };

const Terms = z
  .strictObject({
    hours: DailyHours.exactOptional(),
    windows: z.array(WeeklyWindow).min(1).max(50).exactOptional(),
    holidays: z.array(z.iso.date()).max(400).readonly().default([]),
    vacation: z.union([z.boolean(), VacationDays]).default(false),
    onDemand: z.boolean().default(false),
    residency: Residency.exactOptional(),
    budget: Budget.exactOptional(),
  })
  .transform(({ hours, windows = [], vacation, ...terms }): AvailabilityTerms => {
    const all = hours === undefined ? windows : [...windows, hours];
    return { ...terms, windows: all, vacation: withZone(vacation, all[0]?.zone ?? 'UTC') };
  });

const withZone = (
  vacation: boolean | z.infer<typeof VacationDays>,
  zone: string,
): AvailabilityTerms['vacation'] =>
  typeof vacation === 'boolean' ? vacation : { zone, ...vacation };

const Word = z
  .enum(['always', 'on-demand'])
  .transform((word): AvailabilityTerms => ({ ...none, onDemand: word === 'on-demand' }));

/** `always`, `on-demand`, or a map of terms; absent: always. */
export const CardAvailability = z.union([Word, Terms]).default(none);
