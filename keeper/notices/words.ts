import { counted } from '../../fabric/domain/counted.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { InboxItem } from '../../fabric/queue/inbox.ts';

/** For whom it is written, and where their inbox is on the web. */
export interface Reader {
  readonly person: string;
  readonly inboxUrl: string | undefined;
}

export interface Words {
  readonly subject: string;
  readonly text: string;
}

/** Items told one by one in a digest; of more only their number. */
const mostItems = 30;
const mostLetters = 1_500;

/** One urgent question or gate: who asks what, what an answer does, how to give it. */
export function questionWords(state: TaskState, { person, inboxUrl }: Reader, n: number): Words {
  const title = line(state.task.intent.title, 80);
  const head = n > 1 ? 'Still open' : `${askerOf(state, person)} asks`;
  const page = inboxUrl === undefined ? [] : [`In a browser:  ${inboxUrl}/tasks/${state.taskId}`];
  const [what, ...rest] = itemLines({ kind: 'question', state }, person);
  const how = rest.pop() ?? '';
  const end = [`In a terminal: ${how}`, ...page, silence];
  return {
    subject: `${head}: ${title}`,
    text: [title, '', what, ...rest, '', ...end].join('\n'),
  };
}

const silence = 'Until you answer it waits; silence decides nothing.';

/** All that waits for a person and was not spoken of by itself; undefined for nothing. */
export function digestWords(
  items: readonly InboxItem[],
  told: number,
  { person, inboxUrl }: Reader,
): Words | undefined {
  if (items.length === 0) return undefined;
  const parts = items.slice(0, mostItems).map((item, index) => {
    const title = line(item.state.task.intent.title, 80);
    const lines = itemLines(item, person).join('\n').split('\n');
    return [`${index + 1}. ${title}`, ...lines.map((one) => `   ${one}`.trimEnd())].join('\n');
  });
  const more = items.length - mostItems;
  const web = inboxUrl === undefined ? '' : `, or in a browser ${inboxUrl}`;
  const subject = `${counted(items.length, 'thing')} ${items.length === 1 ? 'waits' : 'wait'} for you`;
  return {
    subject,
    text: [
      `${subject}.`,
      ...parts,
      ...(more > 0 ? [`And ${more} more.`] : []),
      ...(told > 0 ? [`Beside these, ${toldWords(told)}`] : []),
      `All of it: mesh inbox${web} (mesh inbox --web prints a link that logs you in).`,
    ].join('\n\n'),
  };
}

const toldWords = (told: number): string =>
  told === 1
    ? '1 urgent question of which you were told still waits.'
    : `${told} urgent questions of which you were told still wait.`;

/** Who wants what, what each answer does, and in the last line how it is given. */
function itemLines({ kind, state }: InboxItem, person: string): string[] {
  const id = state.taskId.slice(0, 8);
  switch (kind) {
    case 'question':
      return [...asking(state, person), `mesh answer ${id} ${choiceOf(state)}`];
    case 'verify':
      return [
        `${state.producer ?? 'Somebody'} is done: ${line(state.outcome?.summary ?? '', 300)}`,
        'Verified closes it; refused ends it with your note, and nothing of it counts.',
        `mesh verify ${id}   or   mesh verify ${id} --refuse --note "…"`,
      ];
    case 'admit':
      return [
        `${state.task.provenance.submitter} wants it done and may not start it alone: ${line(state.task.intent.body, 300)}`,
        'Let in, it starts; canceled, it ends.',
        `mesh task admit ${id}   or   mesh cancel ${id}`,
      ];
    case 'givenUp':
      return [
        `It was given up: ${line(state.failure ?? 'no reason is on record', 300)}`,
        'Put away, nobody is asked about it any more; to have it done, submit it again.',
        `mesh task archive ${id}`,
      ];
  }
}

function asking(state: TaskState, person: string): string[] {
  const { question } = state;
  if (question === undefined) return [];
  const asker = askerOf(state, person);
  const text = cut(question.text.trim(), mostLetters);
  // The mesh's own questions, a person's own tasks among them, say by themselves who asks and what each answer does.
  const saysAll = saidByMesh.has(question.kind) || state.lastStartedBy === person;
  if (saysAll) return [text];
  const effect =
    question.options.length === 0
      ? `Your answer goes back to ${asker}, which goes on with it.`
      : `Say ${question.options.map((option) => line(option, 40)).join(' or ')}; ${asker} goes on by your word.`;
  return [`${asker} asks: ${text}`, effect];
}

const saidByMesh: ReadonlySet<string> = new Set(['escalation', 'rating', 'deadline', 'reconcile']);

/** The agent whose run asks; where it is the person's own inbox, whoever gave the task to it. */
function askerOf({ question, lastStartedBy, agentId, task }: TaskState, person: string): string {
  if (question && saidByMesh.has(question.kind)) return 'The mesh';
  if (lastStartedBy === person) return task.provenance.submitter;
  return lastStartedBy ?? agentId ?? 'The mesh';
}

/** The options as they are typed, one of them; words of one's own where there are none. */
function choiceOf({ question }: TaskState): string {
  const options = question?.options ?? [];
  if (options.length === 0) return '"…"';
  return options.map((option) => (/^[\w-]+$/u.test(option) ? option : `"${option}"`)).join('|');
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 2)} …`;

const line = (text: string, most: number): string => cut(text.replace(/\s+/gu, ' ').trim(), most);
