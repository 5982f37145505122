import { a2aViewOf, isTerminal } from '../domain/a2a-state.ts';
import { isForReviewers } from '../domain/access.ts';
import { takingRank } from '../domain/order.ts';
import type { TaskState } from '../domain/state.ts';
import { humanFor } from '../domain/transition/questions.ts';
import type { Write } from './group-messages.ts';
import { keyOfText } from './keys.ts';
import type { SqliteValue } from './sqlite-module.ts';

/** The writes that bring the derived rows of log `number` from `before` (as written) to `after`. */
export function indexWrites(
  number: number,
  before: TaskState | undefined,
  after: TaskState,
): Write[] {
  return [rowOf(number, before, after), ...concernWrites(number, before, after)];
}

/** As for a task that the index may hold anything about. */
export function rebuildWrites(number: number, state: TaskState): Write[] {
  return [
    ['task', ...wholeRow(number, state)],
    ['forgetConcerned', number],
    ...concernWrites(number, undefined, state),
  ];
}

function rowOf(number: number, before: TaskState | undefined, after: TaskState): Write {
  if (before === undefined) return ['newTask', ...wholeRow(number, after)];
  if (!hasSameRoots(before, after)) return ['task', ...wholeRow(number, after)];
  return movedRow(number, after);
}

/** Columns that hardly ever change: an update that leaves them out leaves their indexes alone. */
const hasSameRoots = (one: TaskState, other: TaskState): boolean =>
  one.queue === other.queue &&
  one.agentId === other.agentId &&
  one.deadlineAtMs === other.deadlineAtMs;

function movedRow(number: number, state: TaskState): Write {
  return [
    'moved',
    state.phase,
    a2aViewOf(state).state,
    state.phaseAtMs,
    takingRank(state),
    stageOf(state),
    state.notBeforeAtMs ?? 0,
    endedAtMs(state),
    state.version,
    number,
  ];
}

function wholeRow(number: number, state: TaskState): SqliteValue[] {
  const { provenance } = state.task;
  return [
    number,
    state.taskId,
    keyOfText(state.contextId),
    state.contextId,
    state.queue,
    state.agentId ?? null,
    provenance.parent ?? null,
    provenance.submitter,
    state.submittedAtMs,
    state.deadlineAtMs ?? null,
    state.phase,
    a2aViewOf(state).state,
    state.phaseAtMs,
    takingRank(state),
    stageOf(state),
    state.notBeforeAtMs ?? 0,
    endedAtMs(state),
    state.version,
  ];
}

/** 0: may be claimed; 1: once its instant has come (`list` moves it then); null: may not. */
function stageOf(state: TaskState): 0 | 1 | null {
  if (state.phase !== 'ready' && state.phase !== 'scheduled') return null;
  return state.notBeforeAtMs === undefined ? 0 : 1;
}

/** When it ended for the world outside; its stream may be forgotten some time after that. */
function endedAtMs(state: TaskState): number | null {
  return isTerminal(a2aViewOf(state).state) ? state.phaseAtMs : null;
}

function concernWrites(number: number, before: TaskState | undefined, after: TaskState): Write[] {
  const was = before ? concernedBy(before) : [];
  const is = concernedBy(after);
  const writes: Write[] = [];
  for (const principal of is) {
    if (!was.includes(principal)) writes.push(['concerns', principal, number]);
  }
  for (const principal of was) {
    if (!is.includes(principal)) writes.push(['concernsNoMore', principal, number]);
  }
  return writes;
}

/** Stands for every agent that is a reviewer; no principal has an empty id. */
export const anyReviewer = '';

/** Everybody the task concerns, each once: those whom `maySee` and `mayVerify` (`access.ts`) know. */
export function concernedBy(state: TaskState): string[] {
  const { provenance } = state.task;
  const all: string[] = [provenance.submitter];
  const add = (principal: string | undefined) => {
    if (principal !== undefined && !all.includes(principal)) all.push(principal);
  };
  add(provenance.interlocutor);
  add(humanFor(state));
  add(state.claim?.holder);
  add(state.lastStartedBy);
  for (const addressee of state.question?.to ?? []) add(addressee);
  for (const { by } of state.decisions) add(by);
  if (isForReviewers(state)) add(anyReviewer);
  return all;
}
