import { InvalidValueError } from '../fabric/domain/errors.ts';

/** What a clock on the wall of a zone shows. `month` 1..12. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/** ISO weekday, 1 Monday … 7 Sunday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const made = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(zone, made);
    return made;
  } catch (cause) {
    const message = `"${zone}" is no time zone. Use an IANA name such as Europe/Berlin.`;
    throw new InvalidValueError(message, 'zone', { cause });
  }
}

/** The wall time of `zone` (IANA) at an instant; throws InvalidValueError for an unknown zone. */
export function wallTimeAt(atMs: number, zone: string): WallTime {
  const wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0 };
  for (const { type, value } of formatFor(zone).formatToParts(atMs)) {
    if (type in wall) wall[type as keyof typeof wall] = Number(value);
  }
  return wall;
}

const asUtcMs = (wall: WallTime): number =>
  Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);

const minuteMs = 60_000;
const dayMs = 86_400_000;

function offsetMs(atMs: number, zone: string): number {
  return asUtcMs(wallTimeAt(atMs, zone)) - Math.floor(atMs / minuteMs) * minuteMs;
}

/**
 * The first instant at which the clocks of `zone` show `wall`. Where they skip it, the instant of the skip;
 * where they show it twice, the earlier one. Found from the zone's offsets around it, never by adding days.
 */
export function instantOf(wall: WallTime, zone: string): number {
  const nominal = asUtcMs(wall);
  // No zone is further than a day from UTC, and no zone changes twice within two days.
  const before = nominal - offsetMs(nominal - dayMs, zone);
  const after = nominal - offsetMs(nominal + dayMs, zone);
  const shown = [before, after]
    .filter((atMs) => asUtcMs(wallTimeAt(atMs, zone)) === nominal)
    .toSorted((one, other) => one - other)[0];
  return shown ?? skipBetween(Math.min(before, after), Math.max(before, after), zone);
}

/** The instant within `[fromMs, toMs]` from which the zone has the later offset. */
function skipBetween(fromMs: number, toMs: number, zone: string): number {
  const later = offsetMs(toMs, zone);
  let low = fromMs - dayMs / 4;
  let high = toMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle, zone) === later) high = middle;
    else low = middle;
  }
  return high;
}

/** `wall` moved by whole calendar days, at the same hour and minute. */
export function addDays(wall: WallTime, days: number): WallTime {
  const moved = new Date(asUtcMs(wall) + days * dayMs);
  return {
    ...wall,
    year: moved.getUTCFullYear(),
    month: moved.getUTCMonth() + 1,
    day: moved.getUTCDate(),
  };
}

export function weekdayOf(wall: WallTime): Weekday {
  const sundayBased = new Date(asUtcMs(wall)).getUTCDay();
  return (sundayBased === 0 ? 7 : sundayBased) as Weekday;
}

/** `YYYY-MM-DD`. */
export function dateOf(wall: WallTime): string {
  return new Date(asUtcMs(wall)).toISOString().slice(0, 10);
}

/** `HH:MM UTC`, for a sentence; with the date where it is another day than `nowMs`. */
export function clockText(atMs: number, nowMs: number): string {
  const at = new Date(atMs).toISOString();
  const sameDay = at.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10);
  return sameDay ? `${at.slice(11, 16)} UTC` : `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;
}
