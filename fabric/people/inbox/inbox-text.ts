import type { PrincipalId } from '../../domain/ids.ts';
import type { Decision, TaskState } from '../../domain/state.ts';
import type { Question } from '../../domain/task.ts';
import { asQuote, code, oneLine, plainLine, quoted } from '../../kanboard/quoted-words.ts';
import { instant } from '../../kanboard/task-comments.ts';
import { yesNoOf } from '../../kanboard/yes-or-no.ts';

/** A board task of an inbox as a person reads it; the mesh's words, an agent's own quoted as such. */
export interface ItemPage {
  readonly title: string;
  readonly description: string;
}

const verbs: Readonly<Record<Question['kind'], string>> = {
  gate: 'Approve or reject',
  question: 'Answer',
  escalation: 'Decide how it goes on',
  rating: 'Rate',
  deadline: 'Late, decide',
  reconcile: 'Look and say what happened',
  promotion: 'Let it into trusted use, or not',
};

/** Kinds that the mesh asks by itself; of the others the words are an agent's. */
const ofMesh: ReadonlySet<Question['kind']> = new Set<Question['kind']>([
  'escalation',
  'rating',
  'deadline',
  'reconcile',
]);

export function questionPage(state: TaskState, question: Question, human: PrincipalId): ItemPage {
  const { kind, text, to } = question;
  const asker = ofMesh.has(kind) ? 'The mesh' : bold(askerOf(state));
  const others = to.filter((person) => person !== human);
  const also =
    others.length > 0 ? ` The first answer counts: ${list(others)} can answer, too.` : '';
  const parts = [
    `${asker} asks you about the task ${titleOf(state)}, which waits for your answer.${forWhom(state)}${also}`,
    asQuote(text),
    section('What each answer does', effectsOf(state, question)),
    section('How to answer', waysOf(question)),
    dueLine(state),
  ];
  return page(`${verbs[kind]}: ${plainTitle(state)}`, parts);
}

export function resultPage(state: TaskState, human: PrincipalId): ItemPage {
  const { acceptance, correction } = state.task;
  const { summary = '', artifacts = [] } = state.outcome ?? {};
  const wasAsked = state.task.provenance.submitter === human ? 'you asked for' : 'is done for you';
  const results = artifacts.map(
    ({ name, ref }) =>
      `${code(name ?? 'result')}: ${ref === undefined ? 'open it with `mesh inbox`' : plainLine(ref, 1_024)}`,
  );
  const parts = [
    `${bold(state.producer ?? askerOf(state))} says that the task ${titleOf(state)}, which ${wasAsked}, is done. Check the result.`,
    ...(acceptance === undefined ? [] : [`**What it has to satisfy**\n\n${asQuote(acceptance)}`]),
    ...(correction === undefined
      ? []
      : [`**What the last result lacked**\n\n${asQuote(correction)}`]),
    `**The result, in its maker’s words**\n\n${asQuote(summary)}`,
    ...(results.length > 0 ? [section('Where it lies', results)] : []),
    section('What you can do', [
      'It is right: drag this card to Approved, or close it. The task is verified and closed.',
      'It is not: comment what is wrong and drag this card to Rejected, or comment `/reject` and what ' +
        'is wrong. The task ends as refused.',
      'Or elsewhere: `mesh inbox`.',
    ]),
    dueLine(state),
  ];
  return page(`Check the result: ${plainTitle(state)}`, parts);
}

/** What is said on an item that is put away: who answered what, or why nothing is needed any more. */
export function endedText(state: TaskState, key: string): string {
  const decision = state.decisions.find(({ decisionId }) => decisionId === key);
  if (decision) return `💬 ${bold(decision.by)} answered: ${answerText(decision)}`;
  const { verdict, phase } = state;
  const note = verdict?.note ? `: ${quoted(verdict.note)}` : '.';
  if (verdict && phase === 'verified') return `✔ Verified by ${bold(verdict.by)}${note}`;
  if (verdict && phase === 'refused') return `✖ ${bold(verdict.by)} refused the result${note}`;
  const how = phase === 'canceled' ? 'the task was canceled' : `the task is ${phase}`;
  return `Nothing is needed any more: ${how}.`;
}

const answerText = ({ value, note }: Decision): string =>
  note === undefined ? quoted(value) : `${quoted(value)}\n\n${quoted(note)}`;

/** What an option does where the mesh itself knows; any other goes back to who asked. */
const effects: Readonly<Partial<Record<Question['kind'], Readonly<Record<string, string>>>>> = {
  escalation: {
    retry: 'it is tried once more as it is.',
    'wider-tier': 'a larger model does it, as a new task; this one ends.',
    cancel: 'it ends.',
  },
  deadline: { 'go on': 'it keeps its place and is done late.', cancel: 'it ends.' },
  reconcile: {
    ready: 'it is run again.',
    done: 'its work was done; somebody verifies it.',
    'dead-letter': 'it is given up for now.',
    canceled: 'it ends.',
  },
};

function effectsOf(state: TaskState, question: Question): readonly string[] {
  const { kind, options } = question;
  const asker = askerOf(state);
  const choice = yesNoOf(question);
  if (choice) {
    return [
      `${code(choice.yes)}: ${asker} gets your yes and goes on.`,
      `${code(choice.no)}: ${asker} gets your no, and goes on without what it asked for.`,
    ];
  }
  if (kind === 'rating') {
    return ['Up to 2: a small model may do it. Up to 5: a medium one. More: a large one.'];
  }
  if (options.length === 0) return [`Your words go back to ${asker}, which then goes on.`];
  return options.map(
    (option) =>
      `${code(option)}: ${effects[kind]?.[option] ?? `${asker} gets this answer and goes on.`}`,
  );
}

/** The ways that a question can be answered by, also for a comment that says why another did not work. */
export function waysOf(question: Question): readonly string[] {
  const { options } = question;
  const elsewhere = 'Or elsewhere: `mesh inbox`.';
  if (yesNoOf(question)) {
    return [
      'Drag this card to Approved or to Rejected.',
      'Or comment `/approve`, or `/reject` and why.',
      elsewhere,
    ];
  }
  if (options.length === 0) return ['Comment your answer on this card.', elsewhere];
  return [`Comment \`/answer\` and one of: ${options.map(code).join(', ')}.`, elsewhere];
}

const askerOf = ({ lastStartedBy, agentId, task }: TaskState): string =>
  lastStartedBy ?? agentId ?? task.provenance.submitter;

function forWhom({ task }: TaskState): string {
  const { submitter, interlocutor } = task.provenance;
  const behalf =
    interlocutor === undefined || interlocutor === submitter ? '' : `, for ${bold(interlocutor)}`;
  return ` It was submitted by ${bold(submitter)}${behalf}.`;
}

const dueLine = ({ deadlineAtMs }: TaskState): string =>
  deadlineAtMs === undefined ? '' : `The task is due ${instant(deadlineAtMs)}.`;

const page = (title: string, parts: readonly string[]): ItemPage => ({
  title: title.toWellFormed(),
  description: parts
    .filter((part) => part !== '')
    .join('\n\n')
    .toWellFormed(),
});

const section = (heading: string, lines: readonly string[]): string =>
  `**${heading}**\n\n${lines.map((line) => `- ${line}`).join('\n')}`;

const plainTitle = ({ task }: TaskState): string => oneLine(task.intent.title, 120);
const titleOf = (state: TaskState): string =>
  `“${plainTitle(state).replace(/[*_`[\]<>#!|\\]/g, '\\$&')}”`;
const bold = (name: string): string => `**${name}**`;
const list = (names: readonly string[]): string => names.map(bold).join(' and ');
