import { z } from 'zod';
import { wrongKind } from './wrong-kind.ts';

/** An IANA zone that this Node knows: `Europe/Berlin`, `UTC`. */
export const TimeZone = z.string().refine(isTimeZone, {
  error: 'not an IANA time zone this machine knows, such as Europe/Berlin',
});

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export const Weekday = z.enum(weekdays);
export type Weekday = z.infer<typeof Weekday>;

/** Wall time as minutes since midnight; `24:00` is the end of the day. */
export const WallTime = z
  .string(wrongKind('a wall time is quoted text like "09:00"'))
  .regex(/^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/, 'a wall time is "HH:MM", at most "24:00"')
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

/**
 * One weekly range on the wall clock of its zone. `toMinute` at or below `fromMinute` ends on the
 * next day; daylight saving is the reader's business (recompute wall time, never add 24 h).
 */
export const WeeklyWindow = z
  .strictObject({
    days: z.array(Weekday).min(1).readonly(),
    from: WallTime,
    to: WallTime,
    zone: TimeZone,
  })
  .transform(({ from, to, ...rest }) => ({ ...rest, fromMinute: from, toMinute: to }));
export type WeeklyWindow = z.infer<typeof WeeklyWindow>;

/** Waking hours, the same every day. */
export const DailyHours = z
  .strictObject({ from: WallTime, to: WallTime, zone: TimeZone })
  .transform(({ from, to, zone }): WeeklyWindow => ({
    days: weekdays,
    fromMinute: from,
    toMinute: to,
    zone,
  }));

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
