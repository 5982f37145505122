import type { PrincipalId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { Priority, Score } from '../domain/task.ts';
import { isEditable } from '../domain/transition/intake.ts';
import type { BoardTask } from '../kanboard/kanboard-rows.ts';
import { shownText } from '../kanboard/shown-text.ts';
import type { Edit } from '../queue/steer.ts';
import { command, nothing, refusal, waitsFor, type Plan } from './plan.ts';

const begun =
  'A run has begun with the text as it was, and this change does not reach it. Say it in a comment, which the ' +
  'next run reads; or drag it to Backlog first, change it, and drag it to Ready.';
const settled =
  'Score, priority and due date count until somebody works on it. They stand as they were.';
const partOfText =
  'Only the text above its acceptance and context is changed here; they came with the task. ' +
  'Put them back as they were, or cancel it and submit another.';
export const badScore = 'A score is 1, 2, 3, 5, 8, 13 or 21; 0 says that it is not rated.';

/** `value` where it is known to be right; else the refusal. */
type Wanted<T> = { readonly value?: T } | { readonly why: string };

/** What somebody wrote into the fields of a board task, as far as they are of the task. */
export function planEdit(
  state: TaskState,
  person: PrincipalId,
  row: BoardTask,
  fields: readonly string[],
): Plan {
  const text = wordedIn(state, row, fields);
  if ('why' in text) return refusal(text.why);
  const facts = factsIn(state, row, fields);
  if ('why' in facts) return refusal(facts.why);
  const edit: Edit = { ...text.value, ...facts.value };
  if (Object.keys(edit).length === 0) return nothing;
  if (!isEditable(state))
    return refusal(Object.keys(text.value ?? {}).length > 0 ? begun : settled);
  return withRating(state, person, edit);
}

/** The score that was asked for is an answer; what else was changed is an edit. */
function withRating(state: TaskState, person: PrincipalId, edit: Edit): Plan {
  const { question } = state;
  const { score, ...others } = edit;
  if (question?.kind !== 'rating' || score === undefined || score === 0) {
    return command({ do: 'edit', edit });
  }
  if (!question.to.includes(person)) return refusal(`You are not asked. ${waitsFor(state)}`);
  const { decisionId } = question;
  const rated = { do: 'answer', decisionId, value: String(score) } as const;
  return Object.keys(others).length === 0
    ? command(rated)
    : command(rated, { do: 'edit', edit: others });
}

function factsIn(state: TaskState, row: BoardTask, fields: readonly string[]): Wanted<Edit> {
  const score = Score.safeParse(row.score);
  if (fields.includes('score') && !score.success) return { why: badScore };
  const priority = Priority.safeParse(row.priority);
  if (fields.includes('priority') && !priority.success) {
    return { why: 'A priority is 0, 1, 2 or 3; taken in the order 1, 2, 0, 3.' };
  }
  const isDue = fields.includes('date_due') && minute(row.dueAtMs) !== minute(state.deadlineAtMs);
  const value: Edit = {
    ...(fields.includes('score') && score.data !== state.score ? { score: score.data } : {}),
    ...(fields.includes('priority') && priority.data !== state.priority
      ? { priority: priority.data }
      : {}),
    ...(isDue ? { deadlineAtMs: row.dueAtMs > 0 ? row.dueAtMs : null } : {}),
  };
  return { value };
}

const minute = (atMs = 0): number => Math.floor(atMs / 60_000);

function wordedIn(
  { task }: TaskState,
  row: BoardTask,
  fields: readonly string[],
): Wanted<Pick<Edit, 'title' | 'body'>> {
  const shown = shownText(task);
  const description = lines(row.description);
  const before = lines(shown.description);
  const title = fields.includes('title') && row.title !== shown.title ? row.title : undefined;
  if (title !== undefined && title.length > 200) {
    return { why: 'A title has at most 200 characters. Put the rest into the description.' };
  }
  const worded = title === undefined ? {} : { title };
  const isOther = fields.includes('description') && description !== before;
  if (!isOther) return { value: worded };
  const rest = before.slice(lines(task.intent.body).length);
  if (!description.endsWith(rest)) return { why: partOfText };
  return { value: { ...worded, body: description.slice(0, description.length - rest.length) } };
}

/** A browser sends the ends of lines as Windows has them. */
const lines = (text: string): string => text.toWellFormed().replaceAll('\r\n', '\n');
