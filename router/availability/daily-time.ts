import { dateOf, wallTimeAt } from '../wall-time.ts';

/** A time of day on the walls of a zone, as minutes since midnight. */
export interface DailyTime {
  readonly minute: number;
  readonly zone: string;
}

/** The date there (`YYYY-MM-DD`) whose time has come by `nowMs`; undefined before it. */
export function dayStruckAt({ minute, zone }: DailyTime, nowMs: number): string | undefined {
  const wall = wallTimeAt(nowMs, zone);
  return wall.hour * 60 + wall.minute >= minute ? dateOf(wall) : undefined;
}
