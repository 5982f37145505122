import type { TaskState } from '../../fabric/domain/state.ts';
import { shortId } from '../task-ref.ts';
import type { Terminal } from '../terminal.ts';
import { indent } from './columns.ts';
import { oneLine, printable } from './printable.ts';
import { relative } from './relative-time.ts';

export interface Waiting {
  readonly questions: readonly TaskState[];
  readonly results: readonly TaskState[];
  /** Tasks that nobody takes before a person lets them in. */
  readonly admissions: readonly TaskState[];
  /** Tasks whose attempts are spent or whom nobody can do: they go no further by themselves. */
  readonly givenUp: readonly TaskState[];
}

/** What waits for a person: questions, results, tasks at the door and dead letters, each with how to settle it. */
export function inboxPage(
  { questions, results, admissions, givenUp }: Waiting,
  nowMs: number,
  paint: Terminal['paint'],
): string {
  const parts = [
    ...questions.map((state) => questionText(state, nowMs, paint)),
    ...results.map((state) => resultText(state, nowMs, paint)),
    ...admissions.map((state) => admissionText(state, nowMs, paint)),
    ...givenUp.map((state) => givenUpText(state, nowMs, paint)),
  ];
  return parts.length === 0 ? 'Nothing waits for you.' : parts.join('\n\n');
}

function heading(state: TaskState, nowMs: number, paint: Terminal['paint'], what: string): string {
  const title = oneLine(state.task.intent.title, 70);
  return `${shortId(state.taskId)}  ${paint('bold', title)}  ${paint('dim', `${what}, ${relative(state.phaseAtMs, nowMs)}`)}`;
}

function questionText(state: TaskState, nowMs: number, paint: Terminal['paint']): string {
  const { question } = state;
  const from = state.lastStartedBy ?? state.agentId ?? 'the mesh';
  const what = `${question?.urgent ? 'urgent: ' : ''}${from} asks`;
  const options = question?.options.map((option) => oneLine(option)) ?? [];
  const choice = options.length > 0 ? options.join('|') : '"…"';
  return [
    heading(state, nowMs, paint, what),
    indent(printable(question?.text ?? '').trimEnd()),
    indent(`mesh answer ${shortId(state.taskId)} ${choice}`),
  ].join('\n');
}

function resultText(state: TaskState, nowMs: number, paint: Terminal['paint']): string {
  const by = state.producer ?? 'somebody';
  return [
    heading(state, nowMs, paint, `${by} is done`),
    indent(oneLine(state.outcome?.summary ?? '', 300)),
    indent(`mesh verify ${shortId(state.taskId)}   or   --refuse --note "…"`),
  ].join('\n');
}

function admissionText(state: TaskState, nowMs: number, paint: Terminal['paint']): string {
  const { provenance, intent } = state.task;
  const id = shortId(state.taskId);
  return [
    heading(state, nowMs, paint, `${oneLine(provenance.submitter)} may not start it alone`),
    indent(oneLine(intent.body, 300)),
    indent(`mesh task admit ${id}   or   mesh cancel ${id}`),
  ].join('\n');
}

function givenUpText(state: TaskState, nowMs: number, paint: Terminal['paint']): string {
  return [
    heading(state, nowMs, paint, 'given up'),
    indent(oneLine(state.failure ?? 'no reason is on record', 300)),
    indent(
      `mesh task archive ${shortId(state.taskId)}   or submit it again, as a new task: mesh submit`,
    ),
  ].join('\n');
}
