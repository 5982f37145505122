import { z } from 'zod';
import { wrongKind } from './wrong-kind.ts';

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const longestMs = 366 * unitMs.d;

/**
 * A duration as people write it, one number and one unit (`500ms`, `30s`, `2m`, `5h`, `7d`), read as
 * whole milliseconds: above zero, at most 366 days.
 */
export const Duration = z
  .string(wrongKind('a duration is text like "30s", "2m", "5h" or "7d"'))
  .transform((text, context) => {
    const ms = durationMs(text);
    if (ms !== undefined) return ms;
    context.addIssue({
      code: 'custom',
      message: 'a duration is one whole number and one of ms, s, m, h, d: "30s", at most 366 days',
    });
    return z.NEVER;
  });

function durationMs(text: string): number | undefined {
  const match = /^([1-9][0-9]{0,9})(ms|s|m|h|d)$/.exec(text);
  const [count, unit] = [match?.[1], match?.[2]];
  if (count === undefined || unit === undefined) return undefined;
  const ms = Number(count) * unitMs[unit as keyof typeof unitMs];
  return ms <= longestMs ? ms : undefined;
}
