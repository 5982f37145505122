import { InvalidArgumentError } from 'commander';
import { InvalidValueError } from '../../fabric/domain/errors.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const spanPattern = /^(?:in )?([1-9][0-9]{0,5}) ?(s|m|h|d)$/u;
const isoDate =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/u;

/** `30s`, `15m`, `2h`, `3d` in ms. @throws InvalidArgumentError */
export function parseSpan(text: string): number {
  const ms = spanMs(text);
  if (ms === undefined) throw new InvalidArgumentError('Write a span as 30s, 15m, 2h or 3d.');
  return ms;
}

function spanMs(text: string): number | undefined {
  const match = spanPattern.exec(text);
  const unit = match?.[2];
  return unit === undefined ? undefined : Number(match?.[1]) * unitMs[unit as keyof typeof unitMs];
}

/** An instant as people write it, still without "now". */
export type When = { readonly inMs: number } | { readonly atMs: number };

/** `2h` from now, or `2026-12-24 18:00` (local time unless it names a zone). @throws InvalidArgumentError */
export function parseWhen(text: string): When {
  const inMs = spanMs(text);
  if (inMs !== undefined) return { inMs };
  const atMs = isoDate.test(text) ? Date.parse(text.replace(' ', 'T')) : NaN;
  if (Number.isNaN(atMs)) {
    throw new InvalidArgumentError('Write a time as 2h, 3d, 2026-12-24 or 2026-12-24T18:00Z.');
  }
  return { atMs };
}

/** The instant that `when` names, ms since the epoch. */
export const atMsOf = (when: When, nowMs: number): number =>
  'inMs' in when ? nowMs + when.inMs : when.atMs;

/**
 * What two times of a task say together: a deadline is still to come, and nobody has to wait past it.
 * @throws InvalidValueError naming the option
 */
export function requireOrder(
  deadlineAtMs: number | undefined,
  notBeforeAtMs: number | undefined,
  nowMs: number,
): void {
  if (deadlineAtMs === undefined) return;
  const stamp = (atMs: number): string => new Date(atMs).toISOString();
  if (deadlineAtMs <= nowMs) {
    throw new InvalidValueError(
      `--deadline ${stamp(deadlineAtMs)} is past. Give one that is still to come, or none.`,
      'deadline',
    );
  }
  if (notBeforeAtMs === undefined || notBeforeAtMs < deadlineAtMs) return;
  throw new InvalidValueError(
    `--not-before ${stamp(notBeforeAtMs)} is not before --deadline ${stamp(deadlineAtMs)}: nobody could take it ` +
      'in time. Move one of them.',
    'notBefore',
  );
}
