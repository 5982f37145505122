import { expect, it } from 'vitest';
import { dayStruckAt } from '../../router/availability/daily-time.ts';

it('strikes at its minute on the wall, on both sides of a change of summer time', () => {
  const eight = { minute: 480, zone: 'Europe/Berlin' };
  expect(dayStruckAt(eight, Date.UTC(2026, 9, 24, 6) - 1)).toBeUndefined();
  expect(dayStruckAt(eight, Date.UTC(2026, 9, 24, 6))).toBe('2026-10-24');
  expect(dayStruckAt(eight, Date.UTC(2026, 9, 25, 7) - 1)).toBeUndefined();
  expect(dayStruckAt(eight, Date.UTC(2026, 9, 25, 7))).toBe('2026-10-25');
  expect(dayStruckAt({ minute: 0, zone: 'Pacific/Kiritimati' }, Date.UTC(2026, 0, 1, 10))).toBe(
    '2026-01-02',
  );
});
