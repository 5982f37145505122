import type { PrincipalId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import type { Author, TaskEvent } from '../domain/events.ts';
import type { TaskState } from '../domain/state.ts';
import type { Question, ResultArtifact } from '../domain/task.ts';
import { decisionIdFor, humanFor, isForPerson } from '../domain/transition/questions.ts';
import type { AskedByRun, RunEnd } from '../ports/run-task.ts';
import { transition } from '../domain/transition.ts';
import { change, eventOf } from './change.ts';
import type { Held } from './claim.ts';
import type { LogWriterDeps, QueueDeps } from './deps.ts';
import { unsoundness } from './sound-event.ts';

/**
 * Puts a run's end on record: the first thing that happens after a run. A run that was overtaken
 * learns it here and nothing of it is kept.
 * @throws RefusedError `LEASE_LOST` when the claim is not ours any more
 */
export async function finishRun(deps: LogWriterDeps, held: Held, end: RunEnd): Promise<TaskState> {
  return change(deps, held.uid, ({ state, events }) =>
    isOnRecord(events, held)
      ? undefined
      : fitting(deps, held, state, keepable(deps, held, endEvent(deps, held, state, end))),
  );
}

/** This very claim was ended by its holder before: an earlier try whose answer was lost got through. */
const isOnRecord = (events: readonly TaskEvent[], { fence, by }: Held): boolean =>
  endOfClaim(events, fence, ({ id, role }) => id === by.id && role === by.role) !== undefined;

/** The event with which one whom `isHolder` accepts ended the claim at `fence`; undefined where none is there. */
export const endOfClaim = (
  events: readonly TaskEvent[],
  fence: number,
  isHolder: (by: Author) => boolean,
): TaskEvent | undefined =>
  events
    .slice(fence)
    .find(
      (event) =>
        'fence' in event && event.fence === fence && event.kind !== 'started' && isHolder(event.by),
    );

/** A result of a form or size that no log takes says nothing sure about what the run did. */
function keepable(deps: LogWriterDeps, { by, fence }: Held, event: TaskEvent): TaskEvent {
  const fault = unsoundness(event);
  if (fault === undefined) return event;
  const reason = `its result can't be kept: ${fault.path}: ${fault.message}`;
  return eventOf(deps, by, 'uncertain', { fence, reason: short(reason) });
}

/**
 * An end that the task has no room for any more, its 65th question say, is put to a person all the same:
 * what the run did is not to be dropped, and not to be done again unasked.
 */
function fitting(
  deps: LogWriterDeps,
  { by, fence }: Held,
  state: TaskState,
  event: TaskEvent,
): TaskEvent {
  const next = transition(state, event);
  const isFull = !next.ok && (next.reason === 'decisionsFull' || next.reason === 'versionsSpent');
  if (!isFull) return event;
  const said =
    event.kind === 'asked' ? `it asked: ${event.question.text}` : `it ended ${event.kind}`;
  const reason = `${next.reason === 'decisionsFull' ? 'its questions are spent' : 'its log is full'}; ${said}`;
  return eventOf(deps, by, 'uncertain', { fence, reason: short(reason) });
}

function endEvent(deps: LogWriterDeps, held: Held, state: TaskState, end: RunEnd): TaskEvent {
  const { by, fence } = held;
  // A cancel or a take-back that came first decides, whatever the run was about to say.
  if (end.kind !== 'done' && state.cancelRequested) return eventOf(deps, by, 'canceled', { fence });
  if (end.kind !== 'done' && state.revokeTo) return eventOf(deps, by, 'revoked', { fence });
  switch (end.kind) {
    case 'done':
      return eventOf(deps, by, 'settled', { fence, outcome: end.outcome });
    case 'asked':
      return eventOf(deps, by, 'asked', { fence, question: questionOf(held, state, end.question) });
    case 'failed':
      return end.retryable
        ? eventOf(deps, by, 'failed', { fence, reason: short(end.reason), retryable: true })
        : eventOf(deps, by, 'asked', { fence, question: escalationOf(state, end.reason) });
    case 'parked':
      return eventOf(deps, by, 'parked', {
        fence,
        reason: short(end.reason),
        ...(end.untilMs === undefined ? {} : { untilMs: Math.ceil(end.untilMs) }),
      });
    case 'deferred': {
      const deferred = eventOf(deps, by, 'deferred', { fence, wakeAtMs: Math.ceil(end.wakeAtMs) });
      // A wake time that is over would be an immediate rerun; a person looks instead.
      if (deferred.wakeAtMs > deferred.atMs) return deferred;
      return eventOf(deps, by, 'uncertain', { fence, reason: 'it asked to be woken in the past' });
    }
    case 'awaited':
      return eventOf(deps, by, 'uncertain', { fence, reason: unserved(end.eventId) });
    case 'uncertain':
      return eventOf(deps, by, 'uncertain', { fence, reason: short(end.reason) });
    case 'stopped':
      return eventOf(deps, by, 'released', { fence, reason: 'its process is stopping' });
  }
}

/** No intake source is served yet, so nothing would ever end that wait: a person looks instead. */
const unserved = (eventId: string): string =>
  short(
    `it waits for the event ${eventId}, and this mesh receives no events: say ready once it came`,
  );

const short = (text: string): string => text.slice(0, limits.messageChars) || 'no reason given';

function questionOf(held: Held, state: TaskState, asked: AskedByRun): Question {
  return {
    decisionId: decisionIdFor(state),
    kind: asked.kind,
    text: asked.text.slice(0, limits.answerChars),
    options: asked.options.slice(0, limits.questionOptions),
    to: [addresseeOf(held, state, asked)],
    ...(asked.urgent === undefined ? {} : { urgent: asked.urgent }),
  };
}

/** A clarification goes to the submitter only where the submitter may answer it, else it would wait for ever. */
function addresseeOf(held: Held, state: TaskState, asked: AskedByRun): PrincipalId {
  if (asked.to === 'self') return held.by.id;
  const isSubmitters = asked.to === 'submitter' && !isForPerson(state, asked.kind);
  return isSubmitters ? state.task.provenance.submitter : humanFor(state);
}

/** A failure on its tier is a person's to decide, never a silent run on a bigger model. */
export function escalationOf(state: TaskState, reason: string): Question {
  const options = state.agentId ? ['retry', 'wider-tier', 'cancel'] : ['retry', 'cancel'];
  return {
    decisionId: decisionIdFor(state),
    kind: 'escalation',
    text:
      `${state.agentId ?? 'The agent'} could not do this (${short(reason).slice(0, 400)}). retry = once more ` +
      'as it is, wider-tier = give it to a larger model as a new task, cancel = end it.',
    options,
    to: [humanFor(state)],
    urgent: true,
  };
}

/**
 * Keeps a whole text: inline up to 8 KiB, more in the artifact store under its digest. Its name is its
 * id within the task: a later artifact of that name takes its place (`answer` is what chunks add to).
 */
export async function keepText(
  deps: Pick<QueueDeps, 'artifacts'>,
  name: string,
  mediaType: string,
  text: string,
): Promise<ResultArtifact> {
  const bytes = Buffer.byteLength(text);
  const about = { artifactId: name.slice(0, 64), name, mediaType, bytes };
  if (bytes <= limits.inlineBytes) return { ...about, text };
  return { ...about, ref: `artifact:${await deps.artifacts.put(text)}` };
}
