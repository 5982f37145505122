const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A span in its largest fitting unit, rounded down: `42 s`, `12 min`, `5 h`, `3 d`. */
export function span(ms: number): string {
  const length = Math.abs(ms);
  if (length < minuteMs) return `${Math.floor(length / secondMs)} s`;
  if (length < hourMs) return `${Math.floor(length / minuteMs)} min`;
  if (length < 2 * dayMs) return `${Math.floor(length / hourMs)} h`;
  return `${Math.floor(length / dayMs)} d`;
}

/** An instant as people say it: `now`, `12 min ago`, `in 5 h`. */
export function relative(atMs: number, nowMs: number): string {
  const sinceMs = nowMs - atMs;
  if (Math.abs(sinceMs) < secondMs) return 'now';
  return sinceMs > 0 ? `${span(sinceMs)} ago` : `in ${span(sinceMs)}`;
}

/** The same with the instant itself, for what a person may want to plan by. */
export function instant(atMs: number, nowMs: number): string {
  const stamp = new Date(atMs).toISOString().slice(0, 16).replace('T', ' ');
  return `${stamp} UTC (${relative(atMs, nowMs)})`;
}
