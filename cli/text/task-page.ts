import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskLog } from '../../fabric/ports/task-board.ts';
import { shortId } from '../task-ref.ts';
import type { Terminal } from '../terminal.ts';
import { columns, indent } from './columns.ts';
import { eventSentence, targetWords } from './event-sentence.ts';
import { phaseWords } from './phase-words.ts';
import { oneLine, printable } from './printable.ts';
import { instant, relative } from './relative-time.ts';

export interface TaskFamily {
  readonly parent?: TaskState;
  readonly root?: TaskState;
  readonly children: readonly TaskState[];
}

export interface PageSurroundings {
  readonly nowMs: number;
  readonly paint: Terminal['paint'];
  /** One sentence: what it waits for. */
  readonly why: string;
  readonly parked: boolean;
}

/** Everything about one task, for a person: how it stands, its family, its text, its result, its log. */
export function taskPage(log: TaskLog, family: TaskFamily, around: PageSurroundings): string {
  const { state } = log;
  const { paint } = around;
  const section = (name: string, body: string): string =>
    body === '' ? '' : `${paint('bold', name)}\n${indent(body)}`;
  return [
    `${paint('bold', oneLine(state.task.intent.title))}\n${columns(factRows(log, around))}`,
    section('Question', questionText(state)),
    section('Family', familyText(state, family, around.nowMs)),
    section('Text', printable(state.task.intent.body).trimEnd()),
    section('Result', resultText(state)),
    section('Answers', answersText(state, around.nowMs)),
    section('Log', logText(log, around.nowMs)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function factRows({ state, ref }: TaskLog, around: PageSurroundings): string[][] {
  const { task, claim } = state;
  const { nowMs } = around;
  const { submitter, interlocutor } = task.provenance;
  const forWhom =
    interlocutor === undefined || interlocutor === submitter ? '' : `, done for ${interlocutor}`;
  const optional: [string, string | undefined][] = [
    ['board', ref && `#${ref.boardTaskId}${ref.url === undefined ? '' : ` ${ref.url}`}`],
    [
      'held by',
      claim && `${claim.holder}, fence ${claim.fence}, ${relative(claim.claimedAtMs, nowMs)}`,
    ],
    ['last attempt', earlierFailure(state)],
    ['model', state.selection && selectionText(state)],
    ['deadline', state.deadlineAtMs === undefined ? undefined : instant(state.deadlineAtMs, nowMs)],
    [
      'not before',
      state.notBeforeAtMs === undefined ? undefined : instant(state.notBeforeAtMs, nowMs),
    ],
    [
      'context',
      task.contextRefs.length > 0
        ? task.contextRefs.map((one) => oneLine(one)).join(', ')
        : undefined,
    ],
    ['refused for', task.correction === undefined ? undefined : oneLine(task.correction)],
    ['done when', task.acceptance === undefined ? undefined : oneLine(task.acceptance)],
    ['tainted', task.tainted ? 'yes: it comes from untrusted input' : undefined],
  ];
  return [
    ['task', shortId(state.taskId)],
    ['state', `${phaseWords(state, around.parked)}, ${relative(state.phaseAtMs, nowMs)}`],
    ['', oneLine(around.why)],
    ['agent', state.agentId ?? targetWords(task.target)],
    ['from', `${submitter}${forWhom}, ${relative(state.submittedAtMs, nowMs)}`],
    ['rules', rulesText(state)],
    ...optional.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ].map(([name = '', value = '']) => [around.paint('dim', name), value]);
}

function rulesText({ task, priority, score, attempts }: TaskState): string {
  const verifier =
    task.verification === 'none' ? 'nobody verifies it' : `${task.verification} verifies it`;
  const tried = attempts === 0 ? [] : [`attempt ${attempts}`];
  const rated = score === 0 ? [] : [`score ${score}`];
  return [`priority ${priority}`, ...rated, `effects ${task.effects}`, verifier, ...tried].join(
    ', ',
  );
}

function selectionText({ selection }: TaskState): string {
  const { model, effort, tier, source } = selection ?? { source: 'card' };
  const parts = [model, effort && `effort ${effort}`, tier && `tier ${tier}`].filter(Boolean);
  return `${parts.join(', ') || 'the default'} (${source})`;
}

function questionText(state: TaskState): string {
  const { question } = state;
  if (question === undefined) return '';
  const options = question.options.length > 0 ? `\noptions: ${question.options.join(', ')}` : '';
  const choice =
    question.options.length > 0
      ? `<${question.options.map((one) => oneLine(one)).join('|')}>`
      : '"…"';
  return (
    `${printable(question.text)}${printable(options)}\n` +
    `asked: ${question.to.join(' or ')}; answer with: mesh answer ${shortId(state.taskId)} ${choice}`
  );
}

function familyText(
  state: TaskState,
  { parent, root, children }: TaskFamily,
  nowMs: number,
): string {
  const row = (relation: string, one: TaskState): string[] => [
    relation,
    shortId(one.taskId),
    phaseWords(one),
    one.agentId ?? targetWords(one.task.target),
    relative(one.phaseAtMs, nowMs),
    oneLine(one.task.intent.title, 60),
  ];
  const isOwnRoot =
    root === undefined || root.taskId === state.taskId || root.taskId === parent?.taskId;
  const known = new Set(children.map(({ taskId }) => taskId));
  const rows = [
    ...(isOwnRoot ? [] : [row('root', root)]),
    ...(parent ? [row('parent', parent)] : []),
    ...children.map((child) => row(child.task.provenance.relation ?? 'child', child)),
    ...state.links
      .filter(({ taskId }) => !known.has(taskId))
      .map(({ relation, taskId }) => [relation, shortId(taskId)]),
    ...(state.reworkedAs ? [['reworked as', shortId(state.reworkedAs)]] : []),
  ];
  return columns(rows);
}

const endedWithout: ReadonlySet<TaskState['phase']> = new Set([
  'dead-letter',
  'rejected',
  'canceled',
  'archived',
  'split',
]);

/** Why the run before failed, while the task goes on: that is no result. */
function earlierFailure({ phase, failure, outcome }: TaskState): string | undefined {
  const goesOn = outcome === undefined && !endedWithout.has(phase);
  return goesOn && failure !== undefined ? `failed: ${oneLine(failure)}` : undefined;
}

function resultText(state: TaskState): string {
  const { outcome, verdict, failure, producer } = state;
  const isResult = failure !== undefined && earlierFailure(state) === undefined;
  const lines = [
    ...(isResult ? [`failed: ${printable(failure)}`] : []),
    ...(outcome ? [printable(outcome.summary)] : []),
    ...(outcome?.artifacts ?? []).map(({ name, artifactId, text, ref, bytes }) => {
      const head = `${oneLine(name ?? artifactId)} (${bytes} bytes${ref === undefined ? '' : `, ${oneLine(ref)}`})`;
      return text === undefined || text === outcome?.summary
        ? head
        : `${head}\n${indent(printable(text).trimEnd())}`;
    }),
    ...(producer && outcome ? [`made by ${producer}`] : []),
    ...(verdict
      ? [
          `${verdict.by} judged it${verdict.note === undefined ? '' : `: ${printable(verdict.note)}`}`,
        ]
      : []),
  ];
  return lines.join('\n');
}

function answersText({ decisions }: TaskState, nowMs: number): string {
  return decisions
    .map(
      ({ text, value, by, atMs }) =>
        `${oneLine(text, 100)}\n  ${by}, ${relative(atMs, nowMs)}: ${oneLine(value, 200)}`,
    )
    .join('\n');
}

function logText({ events }: TaskLog, nowMs: number): string {
  return columns(
    events.map((event, at) => [
      `${at + 1}`,
      relative(event.atMs, nowMs),
      eventSentence(event, nowMs),
    ]),
  );
}
