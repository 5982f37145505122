import { median } from './life-cycle.ts';

/** The bound that a figure is held to (`DESIGN.md` 12). */
export type Goal = { readonly atMost: number } | { readonly atLeast: number };

export interface Figure {
  /** What was measured, as a person says it. */
  readonly what: string;
  /** The median where there was more than one run. */
  readonly value: number;
  /** `ms`, `req/s`, `MiB`, `x`, … */
  readonly unit: string;
  readonly goal?: Goal;
  /** Every run, in order; absent for a ratio. */
  readonly runs?: readonly number[];
}

/** What one benchmark found. */
export interface BenchReport {
  readonly bench: string;
  /** Name and version of what was measured beside us. */
  readonly peers: Readonly<Record<string, string>>;
  readonly figures: readonly Figure[];
}

export function figure(what: string, unit: string, runs: readonly number[], goal?: Goal): Figure {
  return { what, unit, value: median(runs), runs, ...(goal ? { goal } : {}) };
}

export function ratio(what: string, value: number, goal?: Goal): Figure {
  return { what, unit: 'x', value, ...(goal ? { goal } : {}) };
}

/** 1 at the goal, 2 where it is twice as far as it may be; undefined without a goal. */
function missedBy({ value, goal }: Figure): number | undefined {
  if (goal === undefined) return undefined;
  return 'atMost' in goal ? value / goal.atMost : goal.atLeast / value;
}

const digits = (value: number): number => (value >= 100 ? 0 : value >= 10 ? 1 : 2);
const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: digits(value) });

/** `  name   value unit  (low to high)  goal at most 1 ms: missed by 1.4x` */
export function figureLine(one: Figure): string {
  const { what, value, unit, runs = [], goal } = one;
  const span =
    runs.length > 1
      ? `  (${runs.length} runs, ${number(Math.min(...runs))} to ${number(Math.max(...runs))})`
      : '';
  return `  ${what.padEnd(62)} ${`${number(value)} ${unit}`.padStart(14)}${goalText(one, goal)}${span}`;
}

function goalText(one: Figure, goal: Goal | undefined): string {
  const by = missedBy(one);
  if (goal === undefined || by === undefined) return '';
  const bound = 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`;
  return `  goal ${bound}: ${by <= 1 ? 'reached' : `missed by ${by.toFixed(2)}x`}`;
}
