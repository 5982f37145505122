/** One thing wrong with a Card file, in words that say where and what to do. */
export interface CardProblem {
  readonly severity: 'error' | 'warning';
  /** Path in the home: `cards/adolf.card.yaml`. */
  readonly file: string;
  /** Counting from 1; 1 and 1 where the file as a whole is meant. */
  readonly line: number;
  readonly column: number;
  /** `execution.models[0].id`; empty for the file as a whole. */
  readonly path: string;
  /** UPPER_SNAKE, stable: tools match on it. */
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

export type PathStep = string | number;

/** A finding before it has a place: which field, and the words. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly path: readonly PathStep[];
  readonly code: string;
  readonly message: string;
  readonly fix: string;
}

/** `['skills', 0, 'id']` as `skills[0].id`. */
export function toPathText(path: readonly PathStep[]): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

export const isError = (problem: { readonly severity: string }): boolean =>
  problem.severity === 'error';

/** `cards/x.card.yaml:3:5 error UNKNOWN_KEY (path): message Fix: …`, one line. */
export function toProblemLine(problem: CardProblem): string {
  const where = `${problem.file}:${problem.line}:${problem.column}`;
  const field = problem.path === '' ? '' : ` (${problem.path})`;
  return `${where} ${problem.severity} ${problem.code}${field}: ${problem.message} ${problem.fix}`;
}
