import type { z } from 'zod';
import { cardKeys } from './card.ts';
import type { Finding, PathStep } from './card-problem.ts';
import { nearWord } from './near-word.ts';

type Issue = z.core.$ZodIssue;

/** Each thing the schema refused, as a finding: one an unknown key, the nearest branch of a union. */
export function toFindings(issues: readonly Issue[]): readonly Finding[] {
  return issues.flatMap((issue) => findingsOf(issue, []));
}

function findingsOf(issue: Issue, above: readonly PathStep[]): readonly Finding[] {
  const path = [...above, ...issue.path.map(toStep)];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(path, key));
  if (issue.code === 'invalid_union') {
    const branch = issue.errors.find(
      (branchIssues) => branchIssues.length > 0 && !branchIssues.some(isWrongKind),
    );
    if (branch) return branch.flatMap((inner) => findingsOf(inner, path));
    const first = issue.errors[0]?.[0];
    return [refused(path, 'INVALID_VALUE', first?.message ?? issue.message)];
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined'))
    return [missing(path)];
  return [refused(path, 'INVALID_VALUE', issue.message)];
}

/** An issue that says "this is not the branch that was meant". */
function isWrongKind(issue: Issue): boolean {
  return (
    issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
  );
}

function toStep(step: PropertyKey): PathStep {
  return typeof step === 'symbol' ? String(step) : step;
}

function unknownKey(path: readonly PathStep[], key: string): Finding {
  const near = path.length === 0 ? nearWord(key, cardKeys) : undefined;
  return {
    severity: 'error',
    path: [...path, key],
    code: key === 'd' && path[0] === 'identity' ? 'PRIVATE_KEY_IN_CARD' : 'UNKNOWN_KEY',
    message: `The key "${shown(key)}" is not known here.`,
    fix: near === undefined ? 'Remove it.' : `Did you mean "${near}"?`,
  };
}

function missing(path: readonly PathStep[]): Finding {
  const name = String(path.at(-1) ?? 'it');
  return {
    severity: 'error',
    path,
    code: 'MISSING',
    message: `"${name}" is missing.`,
    fix: `Add "${name}".`,
  };
}

function refused(path: readonly PathStep[], code: string, words: string): Finding {
  const message = `${words.replace(/^Invalid input: /, '').replace(/\.$/, '')}.`;
  const what = path.length === 0 ? 'A Card is one YAML map' : 'Correct this value';
  return { severity: 'error', path, code, message, fix: `${what}.` };
}

const shown = (key: string): string => (key.length > 60 ? `${key.slice(0, 60)}…` : key);
