import { DecisionId, type PrincipalId } from '../domain/ids.ts';
import { closedPhases, type TaskState } from '../domain/state.ts';
import type { Question } from '../domain/task.ts';
import { command, nothing, refusal, waitsFor, type Plan } from './plan.ts';

const words =
  'The mesh knows `/answer`, `/approve`, `/reject` and `/cancel` at the start of a comment. What is no order ' +
  'starts with something else.';

/** What somebody says in a comment: an order, an answer in plain words, or a remark. */
export function planComment(state: TaskState, person: PrincipalId, text: string): Plan {
  const said = text.replaceAll('\r\n', '\n').trim();
  const [, order, rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(said) ?? [];
  switch (order?.toLowerCase()) {
    case undefined:
      return planWords(state, person, said);
    case 'answer':
      return planAnswer(state, person, rest);
    case 'approve':
      return planYesOrNo(state, person, rest, ['approve', 'approved', 'yes', 'ok', 'promote']);
    case 'reject':
      return planYesOrNo(state, person, rest, ['reject', 'rejected', 'no']);
    case 'cancel':
      return command({ do: 'cancel', ...(rest === '' ? {} : { reason: rest.slice(0, 1_000) }) });
    default:
      return refusal(words);
  }
}

/** Plain words answer what was asked in plain words; whatever else they are, the next run reads them. */
function planWords(state: TaskState, person: PrincipalId, text: string): Plan {
  const { question, phase } = state;
  if (text === '') return nothing;
  if (question?.kind === 'question' && question.to.includes(person)) {
    return command({
      do: 'answer',
      decisionId: question.decisionId,
      value: optionOf(question, text),
    });
  }
  // On a result they say what it lacks, which whoever drags it back takes along.
  if (phase === 'done' || closedPhases.has(phase)) return nothing;
  return command({ do: 'note', text });
}

function planAnswer(state: TaskState, person: PrincipalId, rest: string): Plan {
  const { decisionId, text } = named(rest);
  if (text === '') return refusal('`/answer` needs the answer after it.');
  return answer(state, person, decisionId, (question) => ({ value: optionOf(question, text) }));
}

function planYesOrNo(
  state: TaskState,
  person: PrincipalId,
  rest: string,
  meant: readonly [string, ...(readonly string[])],
): Plan {
  const { decisionId, text } = named(rest);
  return answer(state, person, decisionId, (question) => ({
    value: question?.options.find((option) => meant.includes(option.toLowerCase())) ?? meant[0],
    ...(text === '' ? {} : { note: text }),
  }));
}

type Said = (question: Question | undefined) => { readonly value: string; readonly note?: string };

/** An id that is not the open question's goes on as it is: the log knows whether it was answered so before. */
function answer(
  state: TaskState,
  person: PrincipalId,
  named: DecisionId | undefined,
  said: Said,
): Plan {
  const { question, decisions } = state;
  if (named !== undefined && named !== question?.decisionId) {
    return command({ do: 'answer', decisionId: named, ...said(undefined) });
  }
  if (question === undefined) {
    const last = decisions.at(-1);
    const isRepeat = last?.by === person && last.value === said(undefined).value;
    return isRepeat ? nothing : refusal('No question is open on this task. Nothing was changed.');
  }
  if (!question.to.includes(person)) return refusal(`You are not asked. ${waitsFor(state)}`);
  return command({ do: 'answer', decisionId: question.decisionId, ...said(question) });
}

function named(rest: string): {
  readonly decisionId: DecisionId | undefined;
  readonly text: string;
} {
  const [, id, text = ''] = /^(d-[0-9a-f]{16})(?:\s+([\s\S]*))?$/.exec(rest.trim()) ?? [];
  const decisionId = DecisionId.safeParse(id).data;
  return decisionId ? { decisionId, text: text.trim() } : { decisionId, text: rest.trim() };
}

/** In the option's own spelling, where it is one. */
const optionOf = (question: Question | undefined, text: string): string =>
  question?.options.find((option) => option.toLowerCase() === text.toLowerCase()) ?? text;
