import type { TaskEvent } from '../domain/events.ts';
import type { TaskState } from '../domain/state.ts';
import type { Outcome, Question } from '../domain/task.ts';
import { asQuote, code, plainLine, quoted } from './quoted-words.ts';
import { yesNoOf } from './yes-or-no.ts';

/**
 * What people are told of an event in a comment of its board task, or undefined where the column says it
 * all. In the mesh's words; an agent's own are quoted and cut (`DESIGN.md` 5.2). No id, trace or payload.
 */
export function commentOn(
  before: TaskState | undefined,
  event: TaskEvent,
  after: TaskState,
): string | undefined {
  switch (event.kind) {
    case 'claimed':
    case 'started':
      return startedText(before, event, after);
    case 'settled':
      return settledText(event.outcome, after);
    case 'asked':
      return questionText(event.question);
    case 'answered':
      return answeredText(event);
    case 'failed':
    case 'expired':
      return failedText(event.reason, after);
    case 'parked':
      return before?.parks === undefined ? parkedText(event.reason, event.untilMs) : undefined;
    case 'deferred':
      return `⏰ Goes on ${instant(event.wakeAtMs)}.`;
    case 'uncertain':
      return uncertainText(event.reason, after);
    case 'verified':
      return `✔ Verified by **${event.by.id}**${event.note ? `: ${quoted(event.note)}` : '.'}`;
    case 'refused':
      return `✖ **${event.by.id}** refused the result: ${quoted(event.note)}`;
    case 'canceled':
      return `⏹ Canceled by **${event.by.id}**${event.reason ? `: ${quoted(event.reason)}` : '.'}`;
    case 'deadLettered':
      return deadLetterText(event.reason);
    case 'noted':
      return event.by.role === 'human' ? undefined : quoted(event.text);
    case 'split':
      return `✂ Split into ${event.children.length} tasks.`;
    case 'reviewed':
      return `🔎 **${event.by.id}** reviewed it: ${event.verdict}${event.note ? `. ${quoted(event.note)}` : '.'}`;
    case 'submitted':
    case 'admitted':
    case 'edited':
    case 'routed':
    case 'paused':
    case 'resumed':
    case 'released':
    case 'awaited':
    case 'arrived':
    case 'revokeRequested':
    case 'revoked':
    case 'cancelRequested':
    case 'reviewStarted':
    case 'deployStarted':
    case 'deployed':
    case 'archived':
    case 'linked':
    case 'receipted':
      return undefined;
  }
}

function startedText(
  before: TaskState | undefined,
  event: TaskEvent & { kind: 'claimed' | 'started' },
  after: TaskState,
): string | undefined {
  // Claim and start are one line for people; the start says it where both are there.
  if (event.kind === 'claimed' && event.attempt === undefined) return undefined;
  const { claim, attempts } = after;
  if (claim === undefined || before === undefined) return undefined;
  const nth = attempts > 1 ? `, attempt ${attempts}` : '';
  return `🔒 **${claim.holder}** is at work since ${instant(event.atMs)}${nth}.`;
}

function settledText({ summary, artifacts }: Outcome, after: TaskState): string {
  const refs = artifacts.flatMap(({ ref, name }) =>
    ref ? [`- ${code(name ?? 'result')}: ${plainLine(ref, 1_024)}`] : [],
  );
  const maker = after.producer === undefined ? 'its maker' : `**${after.producer}**`;
  const { verification, responsible } = after.task;
  const next =
    verification === 'none'
      ? ''
      : '\n\nNot verified yet. Close this task if the result is right; comment what is wrong and ' +
        `drag it to Ready if it is not.${after.needsHumanVerify ? ` For **${responsible}**.` : ''}`;
  return `✅ Done, in the words of ${maker}:\n\n${asQuote(summary)}${refs.length > 0 ? `\n\n${refs.join('\n')}` : ''}${next}`;
}

/** What is asked, of whom, and how it is answered: here, and where a drag does it in an inbox. */
export function questionText(question: Question): string {
  const whom = question.to.map((person) => `**${person}**`).join(' or ');
  return `❓ For ${whom}: ${quoted(question.text)}\n\n${waysText(question)}`;
}

function waysText(question: Question): string {
  const { options } = question;
  if (yesNoOf(question)) {
    return 'Comment `/approve` or `/reject`, or drag it to Approved or Rejected in your inbox.';
  }
  return options.length > 0
    ? `Comment \`/answer\` and one of: ${options.map(code).join(', ')}.`
    : 'Comment `/answer` and your words.';
}

const answeredText = ({ by, value, note }: TaskEvent & { kind: 'answered' }): string =>
  `💬 **${by.id}** answered: ${quoted(value)}${note ? `\n\n${asQuote(note)}` : ''}`;

function failedText(reason: string, after: TaskState): string {
  const { phase, attempts } = after;
  const next =
    phase === 'ready'
      ? 'It waits for its next attempt.'
      : phase === 'dead-letter'
        ? 'Its attempts are spent: drag it to Ready to have it done anew, as a new task.'
        : phase === 'needs-review'
          ? 'It acts outside, so a person has to look before anything runs again.'
          : '';
  return `⚠️ Attempt ${attempts} did not end well: ${quoted(reason)}\n\n${next}${askedBy(after)}`.trim();
}

const parkedText = (reason: string, untilMs: number | undefined): string =>
  `⏸ Waits, and no attempt is counted: ${quoted(reason)}` +
  (untilMs === undefined ? '' : `\n\nIt goes on ${instant(untilMs)}.`);

const uncertainText = (reason: string, after: TaskState): string =>
  `⚠️ It is not certain what this run did: ${quoted(reason)}\n\nNothing runs again by itself.` +
  askedBy(after);

/** The question that the end of a run put by itself: without it nobody would know what is waited for. */
const askedBy = ({ question }: TaskState): string =>
  question ? `\n\n${questionText(question)}` : '';

const deadLetterText = (reason: string): string =>
  `☠ Given up: ${quoted(reason)}\n\nDrag it to Ready to have it done anew, as a new task.`;

/** `2026-11-30 14:05 UTC`: one zone for everybody who reads it. */
export const instant = (atMs: number): string =>
  `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** An end of a comment that Markdown shows as nothing: by it a comment is found again before it is repeated. */
export const markOf = (version: number): string => `[//]: # (mesh v${version})`;

/** The versions that `comments` tell of. */
export function toldIn(comments: readonly { readonly text: string }[]): ReadonlySet<number> {
  const versions = comments.flatMap(({ text }) => {
    const version = /\[\/\/\]: # \(mesh v(\d+)\)\s*$/.exec(text)?.[1];
    return version === undefined ? [] : [Number(version)];
  });
  return new Set(versions);
}
