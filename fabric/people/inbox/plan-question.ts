import type { PrincipalId } from '../../domain/ids.ts';
import type { TaskState } from '../../domain/state.ts';
import type { Question } from '../../domain/task.ts';
import { nothing, refuse, type ActSituation, type InboxPlan } from './act-situation.ts';
import { waysOf } from './inbox-text.ts';
import { optionIn, saidIn, type Said } from './inbox-words.ts';
import { isRepeat } from './plan-ended.ts';
import { isFree, yesNoOf } from '../../kanboard/yes-or-no.ts';

/** What an act of the person asked does to an open question: a drag answers yes or no, all else takes words. */
export function planQuestion(situation: ActSituation, question: Question): InboxPlan {
  const { did } = situation;
  if (did.kind === 'commented') return planSaid(situation, question, saidIn(did.text));
  if (did.kind === 'closed') return planDoneDrag(situation, question);
  if (did.kind !== 'moved') return nothing;
  switch (did.to) {
    case 'approved':
    case 'rejected':
      return planYesNoDrag(situation, question, did.to);
    case 'done':
      return planDoneDrag(situation, question);
    default:
      return nothing;
  }
}

function planYesNoDrag(
  { lastWords }: ActSituation,
  question: Question,
  to: 'approved' | 'rejected',
): InboxPlan {
  const choice = yesNoOf(question);
  if (choice === undefined) {
    return refuse(`A drag can’t answer this, it takes words. ${hint(question)}`, true);
  }
  const value = to === 'approved' ? choice.yes : choice.no;
  return answer(question, value, to === 'rejected' ? lastWords : undefined);
}

/** Done decides nothing; only on a person's own task are the words on it the answer. */
function planDoneDrag({ key, lastWords }: ActSituation, question: Question): InboxPlan {
  const isOwnTask = key === undefined && isFree(question);
  if (isOwnTask && lastWords !== undefined) return answer(question, lastWords);
  return refuse(`That decided nothing: it still waits for your answer. ${hint(question)}`, true);
}

function planSaid({ state, human }: ActSituation, question: Question, said: Said): InboxPlan {
  const { command, decisionId, text } = said;
  if (decisionId !== undefined && decisionId !== question.decisionId) {
    return planOtherId(state, human, said);
  }
  const choice = yesNoOf(question);
  switch (command) {
    case undefined:
      if (isFree(question)) return text === '' ? nothing : answer(question, text);
      // Before a drag or a command people write why; on other questions they may think they have answered.
      return choice ? nothing : refuse(`That was taken as a remark. ${hint(question)}`, false);
    case 'approve':
    case 'reject':
      if (choice === undefined)
        return refuse(`That is no answer to this. ${hint(question)}`, false);
      return answer(question, command === 'approve' ? choice.yes : choice.no, text);
    case 'answer':
      return planAnswer(question, text);
    case 'unknown':
      return refuse(`There is no such command. ${hint(question)}`, false);
  }
}

function planAnswer(question: Question, text: string): InboxPlan {
  if (text === '') return refuse(`That answer has no words. ${hint(question)}`, false);
  const { yes, no } = yesNoOf(question) ?? {};
  const options = yes !== undefined && no !== undefined ? [yes, no] : question.options;
  if (options.length === 0) return answer(question, text);
  const chosen = optionIn(text, options);
  if (chosen) return answer(question, chosen.value, chosen.note);
  return refuse(`That is none of its answers. ${hint(question)}`, false);
}

/** An id of another question than the one that is open here. */
function planOtherId({ decisions }: TaskState, human: PrincipalId, said: Said): InboxPlan {
  const given = decisions.find(({ decisionId }) => decisionId === said.decisionId);
  if (given && isRepeat(given, human, said)) return nothing;
  return refuse('That id is not of the question that is open here.', false);
}

function answer({ decisionId }: Question, value: string, note?: string): InboxPlan {
  const words = note?.trim() ?? '';
  return { do: 'answer', decisionId, value, ...(words === '' ? {} : { note: words }) };
}

const hint = (question: Question): string => waysOf(question).slice(0, -1).join(' ');
