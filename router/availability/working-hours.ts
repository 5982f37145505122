import type { Vacation } from '../../cards/schema/availability.ts';
import type { WeeklyWindow, Weekday as CardDay } from '../../cards/schema/weekly-hours.ts';
import { addDays, dateOf, instantOf, wallTimeAt, weekdayOf } from '../wall-time.ts';
import type { WallTime, Weekday } from '../wall-time.ts';

/** When somebody works, by the clocks on the walls of each range's zone. */
export interface WorkingHours {
  /** None: around the clock. A range that ends at or before its start lasts into the next day. */
  readonly windows: readonly WeeklyWindow[];
  /** `YYYY-MM-DD` on which no range starts. */
  readonly holidays: readonly string[];
  /** True: away until told otherwise, nobody knows when it ends. */
  readonly vacation: boolean | Vacation;
}

export type Openness =
  { readonly open: true } | { readonly open: false; readonly opensAtMs?: number };

/** Holidays in a row that are looked past for the next opening. */
const horizonDays = 60;

/**
 * Whether `hours` hold at an instant, and if not the next instant at which they do, ms since the epoch.
 * Wall time is computed anew for each day, so a range keeps its clock time across a change of summer time.
 */
export function openAt(hours: WorkingHours, nowMs: number): Openness {
  const { vacation } = hours;
  if (vacation === true) return { open: false };
  if (vacation === false) return openInWeek(hours, nowMs);
  const openness = openInWeek(hours, nowMs);
  const opensAtMs = openness.open ? nowMs : openness.opensAtMs;
  if (opensAtMs === undefined || !isOnVacation(vacation, opensAtMs)) return openness;
  const backAtMs = backFrom(vacation);
  const afterwards = openInWeek(hours, backAtMs);
  return afterwards.open ? { open: false, opensAtMs: backAtMs } : afterwards;
}

/** Whether the instant falls on one of its days. */
export function isOnVacation({ from, until, zone }: Vacation, nowMs: number): boolean {
  const day = dateOf(wallTimeAt(nowMs, zone));
  return from <= day && day <= until;
}

/** The first midnight after its last day. */
function backFrom({ until, zone }: Vacation): number {
  const [year = 0, month = 1, day = 1] = until.split('-').map(Number);
  return instantOf(addDays({ year, month, day, hour: 0, minute: 0 }, 1), zone);
}

function openInWeek(hours: WorkingHours, nowMs: number): Openness {
  if (hours.windows.length === 0) {
    return hours.holidays.length === 0 ? { open: true } : openBetweenHolidays(hours, nowMs);
  }
  const answers = hours.windows.map((window) => windowOpenAt(window, hours.holidays, nowMs));
  if (answers.some(({ open }) => open)) return { open: true };
  const opensAtMs = answers
    .flatMap((answer) => (answer.open ? [] : (answer.opensAtMs ?? [])))
    .toSorted((one, other) => one - other)[0];
  return { open: false, ...(opensAtMs !== undefined && { opensAtMs }) };
}

const everyDay: readonly CardDay[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Holidays without ranges are dates of UTC: no other zone is named. */
function openBetweenHolidays({ holidays }: WorkingHours, nowMs: number): Openness {
  const allDay = { days: everyDay, fromMinute: 0, toMinute: 24 * 60, zone: 'UTC' };
  return windowOpenAt(allDay, holidays, nowMs);
}

function windowOpenAt(window: WeeklyWindow, holidays: readonly string[], nowMs: number): Openness {
  const today = { ...wallTimeAt(nowMs, window.zone), hour: 0, minute: 0 };
  // Yesterday's range may still be running.
  for (let offset = -1; offset <= horizonDays; offset += 1) {
    const opening = openingOn(addDays(today, offset), window, holidays);
    if (opening === undefined || opening.toMs <= nowMs) continue;
    if (opening.fromMs <= nowMs) return { open: true };
    return { open: false, opensAtMs: opening.fromMs };
  }
  return { open: false };
}

function openingOn(date: WallTime, window: WeeklyWindow, holidays: readonly string[]) {
  if (!window.days.includes(dayNames[weekdayOf(date)])) return undefined;
  if (holidays.includes(dateOf(date))) return undefined;
  const { fromMinute, toMinute, zone } = window;
  const lastMinute = toMinute <= fromMinute ? toMinute + 24 * 60 : toMinute;
  return { fromMs: at(date, fromMinute, zone), toMs: at(date, lastMinute, zone) };
}

const dayNames: Readonly<Record<Weekday, CardDay>> = {
  1: 'mon',
  2: 'tue',
  3: 'wed',
  4: 'thu',
  5: 'fri',
  6: 'sat',
  7: 'sun',
};

function at(date: WallTime, minutes: number, zone: string): number {
  const day = addDays(date, Math.floor(minutes / 1440));
  const ofDay = minutes % 1440;
  return instantOf({ ...day, hour: Math.floor(ofDay / 60), minute: ofDay % 60 }, zone);
}
