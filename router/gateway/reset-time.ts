import { addDays, instantOf, wallTimeAt } from '../wall-time.ts';

/** Longest a parsed reset is believed where no quota window says more: 6 h, then one probe. */
export const resetCapMs = 6 * 3_600_000;

/**
 * When a provider says it will answer again, found in its words: ISO-8601, epoch seconds or ms, `try again in
 * 2h 13m`, Go durations, `resets at 14:05 UTC`, `3pm (Europe/Berlin)`, `regain access on 2026-12-01 at 00:00
 * UTC` (`reference/litellm.md` 2.6; the header is often lost on the way). An instant without a zone is UTC.
 *
 * @returns ms since the epoch, after `nowMs` and at most `capMs` later; undefined where nothing is said, or
 *   only something past.
 */
export function parseReset(text: string, nowMs: number, capMs = resetCapMs): number | undefined {
  const short = text.slice(0, 4_000);
  for (const reader of readers) {
    const atMs = reader(short, nowMs);
    if (atMs !== undefined && atMs > nowMs) return Math.min(Math.ceil(atMs), nowMs + capMs);
  }
  return undefined;
}

/** The same for a `retry-after` value: seconds or an HTTP date. */
export function parseRetryAfter(
  value: string | undefined,
  nowMs: number,
  capMs = resetCapMs,
): number | undefined {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  const seconds = /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined;
  const atMs = seconds === undefined ? Date.parse(trimmed) : nowMs + seconds * 1_000;
  if (!Number.isFinite(atMs) || atMs <= nowMs) return undefined;
  return Math.min(Math.ceil(atMs), nowMs + capMs);
}

type Reader = (text: string, nowMs: number) => number | undefined;

const readers: readonly Reader[] = [isoInstant, duration, clockTime, dateAlone, epoch];

function isoInstant(text: string): number | undefined {
  const match =
    /(\d{4}-\d\d-\d\d)(?:[T ]|,? at )(\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, date = '', time = '', zone = 'Z'] = match;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z';
  return finite(Date.parse(`${date}T${time}${offset}`));
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function duration(text: string, nowMs: number): number | undefined {
  const part = String.raw`\d+(?:\.\d+)? ?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b,? ?(?:and )?`;
  // `2h13m` has no word border between its parts.
  const run = part.replace(String.raw`\b`, String.raw`(?![a-z])`);
  const match = new RegExp(String.raw`\b(?:in|after|wait) (?:about )?((?:${run})+)`, 'i').exec(
    text,
  );
  if (match === null) return undefined;
  let ms = 0;
  for (const [, count = '0', unit = ''] of (match[1] ?? '').matchAll(
    /(\d+(?:\.\d+)?) ?([a-z]+)/gi,
  )) {
    const word = unit.toLowerCase();
    ms += Number(count) * (unitMs[/^(ms|milli)/.test(word) ? 'ms' : word.slice(0, 1)] ?? 0);
  }
  return nowMs + ms;
}

function clockTime(text: string, nowMs: number): number | undefined {
  const match =
    /\b(?:resets?|available|again|until)(?: again)?(?: at)? (\d{1,2})(?::(\d\d))? ?(am|pm)?(?: ?\(?(UTC|GMT|[A-Z][a-z]+\/[A-Za-z_/]+)\)?)?/i.exec(
      text,
    );
  if (match === null) return undefined;
  const [, hours = '', minutes, half, named = 'UTC'] = match;
  if (minutes === undefined && half === undefined) return undefined;
  const hour =
    half === undefined ? Number(hours) : (Number(hours) % 12) + (/pm/i.test(half) ? 12 : 0);
  if (hour > 23 || Number(minutes ?? 0) > 59) return undefined;
  const zone = /^(utc|gmt)$/i.test(named) ? 'UTC' : named;
  try {
    const today = { ...wallTimeAt(nowMs, zone), hour, minute: Number(minutes ?? 0) };
    const atMs = instantOf(today, zone);
    return atMs > nowMs ? atMs : instantOf(addDays(today, 1), zone);
  } catch {
    // A zone this machine does not know: better no instant than a wrong one.
    return undefined;
  }
}

function dateAlone(text: string): number | undefined {
  const match = /\b(?:on|at|until|after) (\d{4}-\d\d-\d\d)\b/.exec(text);
  return match === null ? undefined : finite(Date.parse(`${match[1] ?? ''}T00:00:00Z`));
}

function epoch(text: string): number | undefined {
  const match = /reset\w*\D{0,12}(\d{10}(?:\d{3})?)\b/i.exec(text);
  if (match === null) return undefined;
  const digits = match[1] ?? '';
  return digits.length === 13 ? Number(digits) : Number(digits) * 1_000;
}

const finite = (atMs: number): number | undefined => (Number.isFinite(atMs) ? atMs : undefined);
