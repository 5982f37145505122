import type { DecisionId } from './ids.ts';
import type { Receipt, TaskState } from './state.ts';

/** The id of the nth notice of a question to a person, and the key of its receipt in the task's log. */
export const noticeIdFor = (decisionId: DecisionId, person: string, n: number): string =>
  `notice:${decisionId}:${person}:${n}`;

export interface SentNotice {
  readonly noticeId: string;
  /** From 1; a later one speaks of the same question again. */
  readonly n: number;
  readonly receipt: Receipt;
}

/** The newest notice of the open question to this person; undefined before the first. */
export function lastNotice(
  { question, receipts }: Pick<TaskState, 'question' | 'receipts'>,
  person: string,
): SentNotice | undefined {
  if (question === undefined) return undefined;
  let last: SentNotice | undefined;
  for (let n = 1; ; n++) {
    const noticeId = noticeIdFor(question.decisionId, person, n);
    const receipt = receipts[noticeId];
    if (receipt === undefined) return last;
    last = { noticeId, n, receipt };
  }
}
