import { DecisionId } from '../../domain/ids.ts';

/** What a person's comment says: a command, with the id of its question where they wrote it, or words. */
export interface Said {
  readonly command: 'approve' | 'reject' | 'answer' | 'unknown' | undefined;
  readonly decisionId: DecisionId | undefined;
  /** What stands after the command; without one, all of it. */
  readonly text: string;
}

const commands: ReadonlySet<string> = new Set(['approve', 'reject', 'answer']);
const Command = /^\/([a-z-]+)(?=\s|$)\s*(?:(d-[0-9a-f]{16})(?=\s|$))?\s*(.*)$/isu;

export function saidIn(comment: string): Said {
  const text = comment.replaceAll('\r\n', '\n').trim();
  const [, word, id, rest = ''] = Command.exec(text) ?? [];
  if (word === undefined) return { command: undefined, decisionId: undefined, text };
  const command = word.toLowerCase();
  return {
    command: isCommand(command) ? command : 'unknown',
    decisionId: DecisionId.safeParse(id?.toLowerCase()).data,
    text: rest.trim(),
  };
}

const isCommand = (word: string): word is 'approve' | 'reject' | 'answer' => commands.has(word);

/** The option that words begin with, and the rest as a note; the longest where one begins another. */
export function optionIn(
  text: string,
  options: readonly string[],
): { readonly value: string; readonly note?: string } | undefined {
  const longestFirst = [...options].sort((a, b) => b.length - a.length);
  const value = longestFirst.find((option) => begins(text, option));
  if (value === undefined) return undefined;
  const note = text.slice(value.length).replace(/^[\s:,.;–—-]+/u, '');
  return note === '' ? { value } : { value, note };
}

/** The whole option and then nothing, a space or a stop: `2.5` is not a 2. */
function begins(text: string, option: string): boolean {
  if (text.slice(0, option.length).toLowerCase() !== option.toLowerCase()) return false;
  return /^(?:[:,.;]?(?:\s|$))/u.test(text.slice(option.length));
}
