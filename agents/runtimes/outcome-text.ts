import { limits } from '../../fabric/domain/limits.ts';

/** A text's beginning within the bound of a summary, cut between words. */
export function summaryOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= limits.messageChars) return trimmed;
  const head = trimmed.slice(0, limits.messageChars - 2);
  const cut = head.replace(/\s+\S*$/u, '');
  return `${cut === '' ? head.replace(/[\ud800-\udbff]$/, '') : cut} …`;
}
