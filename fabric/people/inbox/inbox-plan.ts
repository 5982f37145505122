import type { Question } from '../../domain/task.ts';
import { nothing, refuse, type ActSituation, type InboxPlan } from './act-situation.ts';
import { isNamedVerifier, personOf } from './inbox-items.ts';
import { saidIn } from './inbox-words.ts';
import { planEnded } from './plan-ended.ts';
import { planOwnTask } from './plan-own-task.ts';
import { planQuestion } from './plan-question.ts';
import { planResult } from './plan-result.ts';
import { isFree } from '../../kanboard/yes-or-no.ts';

/**
 * Decides purely. Snoozing and looking are not answers; silence never is. Only the inbox's own person
 * decides there, whoever else may open the project.
 */
export function planAct(situation: ActSituation): InboxPlan {
  const { did, username, human } = situation;
  if (did.kind === 'created' || did.kind === 'edited') return nothing;
  if (username !== human) return planForeign(situation);
  const { question } = openMatter(situation);
  if (question) return planQuestion(situation, question);
  if (isOpenResult(situation)) return planResult(situation);
  return situation.key === undefined ? planOwnTask(situation) : planEnded(situation, situation.key);
}

/** The question that this board task is about, while it is open to its person. */
function openMatter({ state, key, human }: ActSituation): { readonly question?: Question } {
  const { question } = state;
  if (question === undefined || !question.to.includes(human)) return {};
  return key === undefined || key === question.decisionId ? { question } : {};
}

function isOpenResult({ key, state, directory, human }: ActSituation): boolean {
  const person = personOf(directory, human);
  return (
    key?.startsWith('verify-') === true && person !== undefined && isNamedVerifier(state, person)
  );
}

function planForeign(situation: ActSituation): InboxPlan {
  const { did, human } = situation;
  const why = `Only **${human}** decides here.`;
  if (did.kind !== 'commented') return refuse(why, true);
  const { question } = openMatter(situation);
  const isAnswer = saidIn(did.text).command !== undefined || (question && isFree(question));
  return isAnswer ? refuse(why, false) : nothing;
}
