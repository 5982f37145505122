import type { EventOf, TaskEvent, TaskEventKind } from '../../fabric/domain/events.ts';
import type { Target } from '../../fabric/domain/task.ts';
import { oneLine } from './printable.ts';
import { instant } from './relative-time.ts';

const mostChars = 200;
const shortId = (uid: string): string => uid.slice(0, 8);
const because = (reason: string | undefined): string =>
  reason === undefined || reason === '' ? '' : `: ${oneLine(reason, mostChars)}`;
const until = (atMs: number | undefined, nowMs: number): string =>
  atMs === undefined ? '' : ` until ${instant(atMs, nowMs)}`;

type Predicates = {
  readonly [K in TaskEventKind]: (event: EventOf<K>, nowMs: number) => string;
};

/** What each event says of its author. */
const predicates: Predicates = {
  submitted: ({ to, reason, task }) =>
    to === 'rejected'
      ? `submitted it; rejected${because(reason)}`
      : `submitted it to ${targetWords(task.target)}`,
  admitted: () => 'admitted it',
  edited: (event, nowMs) => `changed ${editWords(event, nowMs)}`,
  routed: ({ agentId, selection }) => `routed it to ${agentId}${because(selection?.explain)}`,
  paused: () => 'paused it',
  resumed: () => 'resumed it',
  claimed: ({ attempt }) =>
    attempt === undefined ? 'took it' : `took it and began attempt ${attempt}`,
  started: ({ attempt }) => `began attempt ${attempt}`,
  released: ({ reason }) => `handed it back${because(reason)}`,
  expired: ({ reason }) => `found its lease expired${because(reason)}`,
  failed: ({ reason, retryable }) =>
    `failed${retryable ? ', may be tried again' : ''}${because(reason)}`,
  parked: ({ reason, untilMs }, nowMs) => `parked it${until(untilMs, nowMs)}${because(reason)}`,
  deferred: ({ wakeAtMs }, nowMs) => `put it off${until(wakeAtMs, nowMs)}`,
  awaited: ({ eventId }) => `waits for the event ${oneLine(eventId)}`,
  arrived: ({ eventId }) => `saw the event ${oneLine(eventId)}`,
  asked: ({ question }) => `asked ${question.to.join(' or ')}${because(question.text)}`,
  answered: ({ value, note }) => `answered${because(value)}${inBrackets(note)}`,
  uncertain: ({ reason }) => `can't say what the run did${because(reason)}`,
  settled: ({ outcome }) => `finished it${because(outcome.summary)}`,
  revokeRequested: ({ to }) => `took it back (to ${to})`,
  revoked: () => 'stopped and gave it back',
  cancelRequested: ({ reason }) => `asked to cancel it${because(reason)}`,
  canceled: ({ reason }) => `canceled it${because(reason)}`,
  split: ({ children }) => `split it into ${children.map(shortId).join(', ')}`,
  reviewStarted: () => 'gave it to a reviewer',
  reviewed: ({ verdict, note }) => `reviewed it, ${verdict}${because(note)}`,
  deployStarted: ({ subject }) => `began to deploy ${oneLine(subject)}`,
  deployed: ({ subject, ok }) => `${ok ? 'deployed' : 'could not deploy'} ${oneLine(subject)}`,
  verified: ({ note }) => `verified it${because(note)}`,
  refused: ({ note }) => `refused it${because(note)}`,
  deadLettered: ({ reason }) => `gave it up${because(reason)}`,
  archived: () => 'archived it',
  noted: ({ text }) => `wrote${because(text)}`,
  linked: ({ relation, taskId }) => `linked the ${relation} task ${shortId(taskId)}`,
  receipted: ({ key, status }) => `recorded ${oneLine(key)} as ${status}`,
};

/** One event of a task's log as a sentence: who did what. */
export function eventSentence(event: TaskEvent, nowMs: number): string {
  // The table's row takes exactly this kind; TypeScript does not follow the union through it.
  const predicate = predicates[event.kind] as (event: TaskEvent, nowMs: number) => string;
  return `${event.by.id} ${predicate(event, nowMs)}`;
}

/** Where a task was sent, in words. */
export function targetWords(target: Target): string {
  switch (target.kind) {
    case 'agent':
      return target.agentId;
    case 'auto':
      return 'whoever the router chooses';
    case 'constraints': {
      const needs = Object.entries(target.need).map(([name, value]) => `${name} ${String(value)}`);
      return needs.length === 0 ? 'anybody' : `anybody with ${needs.join(', ')}`;
    }
  }
}

function inBrackets(note: string | undefined): string {
  return note === undefined || note === '' ? '' : ` (${oneLine(note, mostChars)})`;
}

function editWords(event: EventOf<'edited'>, nowMs: number): string {
  const when = (name: string, atMs: number | null | undefined): string[] => {
    if (atMs === undefined) return [];
    return [atMs === null ? `no ${name}` : `${name} to ${instant(atMs, nowMs)}`];
  };
  const changes = [
    ...(event.priority === undefined ? [] : [`priority to ${event.priority}`]),
    ...(event.score === undefined ? [] : [`score to ${event.score}`]),
    ...when('deadline', event.deadlineAtMs),
    ...when('start', event.notBeforeAtMs),
    ...(event.title === undefined ? [] : [`title to ${oneLine(event.title, mostChars)}`]),
    ...(event.body === undefined ? [] : ['text']),
  ];
  return changes.join(', ') || 'nothing';
}
