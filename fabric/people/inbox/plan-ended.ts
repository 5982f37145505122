import type { PrincipalId } from '../../domain/ids.ts';
import type { Decision, TaskState } from '../../domain/state.ts';
import { nothing, refuse, type ActSituation, type InboxPlan } from './act-situation.ts';
import { optionIn, saidIn, type Said } from './inbox-words.ts';
import { columnOfAnswer } from '../../kanboard/yes-or-no.ts';

/** What was answered before, or is not needed any more: a repeat is a no-op, anything else comes too late. */
export function planEnded({ did, state, human }: ActSituation, key: string): InboxPlan {
  const given = state.decisions.find(({ decisionId }) => decisionId === key);
  const late = (putBack: boolean): InboxPlan => refuse(lateText(state, given, key), putBack);
  if (did.kind === 'reopened') return late(true);
  if (did.kind === 'moved') {
    const isVerdict = did.to === 'approved' || did.to === 'rejected';
    return isVerdict && !isSameDrag(state, given, human, did.to) ? late(true) : nothing;
  }
  if (did.kind !== 'commented') return nothing;
  const said = saidIn(did.text);
  const isAnswer = said.command !== undefined || (given?.kind === 'question' && said.text !== '');
  if (!isAnswer || isSameWords(state, given, human, said)) return nothing;
  return late(false);
}

function isSameDrag(
  { verdict, phase }: TaskState,
  given: Decision | undefined,
  human: PrincipalId,
  to: 'approved' | 'rejected',
): boolean {
  if (given) return given.by === human && columnOfAnswer(given.value) === to;
  const column = phase === 'verified' ? 'approved' : phase === 'refused' ? 'rejected' : undefined;
  return verdict?.by === human && column === to;
}

function isSameWords(
  state: TaskState,
  given: Decision | undefined,
  human: PrincipalId,
  said: Said,
): boolean {
  if (given) return isRepeat(given, human, said);
  const column = said.command === 'approve' ? 'approved' : 'rejected';
  const isVerdict = said.command === 'approve' || said.command === 'reject';
  return isVerdict && isSameDrag(state, given, human, column);
}

/** The same answer of the same person to the same question: a no-op, however often it comes. */
export function isRepeat(given: Decision, human: PrincipalId, { command, text }: Said): boolean {
  if (given.by !== human) return false;
  if (command === 'approve' || command === 'reject') {
    return columnOfAnswer(given.value) === (command === 'approve' ? 'approved' : 'rejected');
  }
  return text === given.value || optionIn(text, [given.value]) !== undefined;
}

function lateText(state: TaskState, given: Decision | undefined, key: string): string {
  if (given) {
    return `Too late: **${given.by}** has answered this, and an answer is not changed.`;
  }
  const { verdict } = state;
  if (verdict && key.startsWith('verify-')) {
    return `Too late: **${verdict.by}** has judged this result, and that is not changed.`;
  }
  return 'Too late: this is not open any more.';
}
