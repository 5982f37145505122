import { addDays, instantOf, wallTimeAt, weekdayOf } from '../wall-time.ts';
import type { QuotaWindow } from './quota-window.ts';

type Calendar = Extract<QuotaWindow['shape'], { kind: 'calendar' }>;

/** The calendar period that holds an instant: from a local midnight to the next period's. */
export function periodAt(shape: Calendar, atMs: number): { fromMs: number; toMs: number } {
  const midnight = { ...wallTimeAt(atMs, shape.zone), hour: 0, minute: 0 };
  switch (shape.every) {
    case 'day':
      return between(midnight, addDays(midnight, 1), shape.zone);
    case 'week': {
      const since = (weekdayOf(midnight) - (shape.weekStartsOn ?? 1) + 7) % 7;
      const first = addDays(midnight, -since);
      return between(first, addDays(first, 7), shape.zone);
    }
    case 'month': {
      const first = { ...midnight, day: 1 };
      const next =
        first.month === 12
          ? { ...first, year: first.year + 1, month: 1 }
          : { ...first, month: first.month + 1 };
      return between(first, next, shape.zone);
    }
  }
}

function between(
  from: Parameters<typeof instantOf>[0],
  to: Parameters<typeof instantOf>[0],
  zone: string,
): { fromMs: number; toMs: number } {
  return { fromMs: instantOf(from, zone), toMs: instantOf(to, zone) };
}
