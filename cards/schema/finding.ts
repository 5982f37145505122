import type { Finding, PathStep } from './card-problem.ts';

/** Builds the findings of the lint rules: what is wrong, where, and what to do. */
export function fault(
  code: string,
  path: readonly PathStep[],
  message: string,
  fix: string,
): Finding {
  return { severity: 'error', path, code, message, fix };
}

export function warning(
  code: string,
  path: readonly PathStep[],
  message: string,
  fix: string,
): Finding {
  return { severity: 'warning', path, code, message, fix };
}

/** A fault for each entry that stood earlier in the same list. */
export function repeated(
  values: readonly (string | number)[],
  pathOf: (index: number) => readonly PathStep[],
  code: string,
): readonly Finding[] {
  return values.flatMap((value, index) => {
    if (values.indexOf(value) === index) return [];
    const fix = 'Keep one of them.';
    return [fault(code, pathOf(index), `"${value}" is listed more than once.`, fix)];
  });
}
