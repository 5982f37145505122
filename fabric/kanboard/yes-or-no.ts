import type { Question } from '../domain/task.ts';

/** The two answers of a question that a drag can answer, as that question spells them. */
export interface YesNo {
  readonly yes: string;
  readonly no: string;
}

const yesWords: ReadonlySet<string> = new Set(['approve', 'yes', 'promote']);
const noWords: ReadonlySet<string> = new Set(['reject', 'no']);

/** Undefined for a question that takes more than yes or no: a drag would have to guess. */
export function yesNoOf({ kind, options }: Pick<Question, 'kind' | 'options'>): YesNo | undefined {
  // A gate that names no options is what its kind says.
  if (kind === 'gate' && options.length === 0) return { yes: 'approve', no: 'reject' };
  const yes = options.find((option) => yesWords.has(option.toLowerCase()));
  const no = options.find((option) => noWords.has(option.toLowerCase()));
  return options.length === 2 && yes !== undefined && no !== undefined ? { yes, no } : undefined;
}

/** A question that words answer, whatever they are. */
export const isFree = ({ kind, options }: Pick<Question, 'kind' | 'options'>): boolean =>
  options.length === 0 && kind !== 'gate';

/** The column of an inbox that shows an answer; one that is neither yes nor no is just done. */
export function columnOfAnswer(value: string): 'approved' | 'rejected' | 'done' {
  const word = value.toLowerCase();
  if (yesWords.has(word)) return 'approved';
  return noWords.has(word) ? 'rejected' : 'done';
}
