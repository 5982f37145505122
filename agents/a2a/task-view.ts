import { TaskState as WireState, type Message, type Task, type TaskStatus } from '@a2a-js/sdk';
import {
  a2aViewOf,
  isTerminal,
  type A2aState,
  type A2aView,
} from '../../fabric/domain/a2a-state.ts';
import { mayVerify } from '../../fabric/domain/access.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import { standingPark, type TaskState } from '../../fabric/domain/state.ts';
import type { TaskLog } from '../../fabric/ports/task-board.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import type { Edge } from './edge.ts';
import { artifactsOf } from './task-artifacts.ts';
import { surroundingsOf, type Known } from './surroundings.ts';
import { agentMessage, historyOf, questionMessage } from './task-history.ts';

const wireStates = {
  SUBMITTED: WireState.TASK_STATE_SUBMITTED,
  WORKING: WireState.TASK_STATE_WORKING,
  INPUT_REQUIRED: WireState.TASK_STATE_INPUT_REQUIRED,
  COMPLETED: WireState.TASK_STATE_COMPLETED,
  FAILED: WireState.TASK_STATE_FAILED,
  CANCELED: WireState.TASK_STATE_CANCELED,
  REJECTED: WireState.TASK_STATE_REJECTED,
} satisfies Record<A2aState, WireState>;

export const viewFor = (state: TaskState, principal: Principal): A2aView =>
  a2aViewOf(state, mayVerify(state, principal));

export interface TaskViewing {
  readonly principal: Principal;
  /** At most that many of the newest messages; 0 = none; undefined = all. */
  readonly historyLength?: number | undefined;
  /** False leaves artifacts out, as lists do. */
  readonly withArtifacts?: boolean;
  /** The board's own name of it, where it has one. */
  readonly ref?: TaskLog['ref'];
  /** The answer so far, where it is known better than by asking the actor. */
  readonly runningText?: string;
}

/** A task as one principal sees it now: a fresh object that nothing later changes. */
export async function toTask(edge: Edge, state: TaskState, viewing: TaskViewing): Promise<Task> {
  const { principal, historyLength, withArtifacts = true, ref, runningText } = viewing;
  const view = viewFor(state, principal);
  const source = { artifacts: edge.queue.artifacts, baseUrl: baseUrlOf(edge) };
  const text = runningText ?? edge.actors.textOf(state.taskId);
  return {
    id: state.taskId,
    contextId: state.contextId,
    status: statusOf(state, view),
    artifacts: withArtifacts ? await artifactsOf(source, state, text) : [],
    history: historyOf(state, historyLength),
    metadata: {
      ...metadataOf(state, view),
      ...(await waitingOf(edge, state, view)),
      ...(ref ? { boardTaskId: ref.boardTaskId, ...(ref.url ? { boardUrl: ref.url } : {}) } : {}),
    },
  };
}

export function baseUrlOf({ publicUrl }: Pick<Edge, 'publicUrl'>): string {
  const url = publicUrl();
  return url.endsWith('/') ? url : `${url}/`;
}

export function statusOf(state: TaskState, view: A2aView): TaskStatus {
  return {
    state: wireStates[view.state],
    message: statusMessage(state, view),
    timestamp: iso(state.phaseAtMs),
  };
}

function statusMessage(state: TaskState, view: A2aView): Message | undefined {
  const say = (text: string) => agentMessage(state, `${state.taskId}-${state.version}`, text);
  if (state.question) return questionMessage(state, state.question);
  if (view.ask === 'verify') {
    return say(`Done: ${state.outcome?.summary ?? ''} Say whether it is verified or refused.`);
  }
  if (state.phase === 'refused') return say(state.verdict?.note ?? 'Its verification was refused.');
  if (view.state === 'FAILED' || view.state === 'REJECTED') {
    return say(state.failure ?? view.reason ?? 'No reason is on record.');
  }
  return undefined;
}

/** What our clients read beside the protocol's own fields; no time but ISO, no empty field. */
export function metadataOf(state: TaskState, view: A2aView): Record<string, unknown> {
  const { question, task } = state;
  return {
    phase: view.phase,
    attempt: state.attempts,
    ...(state.agentId ? { agentId: state.agentId } : {}),
    ...(view.reason ? { reason: view.reason } : {}),
    ...(view.verification ? { verification: view.verification } : {}),
    ...(view.ask ? { ask: view.ask } : {}),
    ...(view.awaiting ? { awaiting: view.awaiting } : {}),
    ...(question
      ? { decisionId: question.decisionId, options: question.options, askedOf: question.to }
      : {}),
    ...(state.cancelRequested && !isTerminal(view.state) ? { cancelRequested: true } : {}),
    ...(state.reworkedAs ? { reworkedAs: state.reworkedAs } : {}),
    ...(state.links.length > 0 ? { links: state.links } : {}),
    ...(task.provenance.parent ? { parent: task.provenance.parent } : {}),
  };
}

/** For a task that waits: the sentence, and reason and instant where it is parked. */
async function waitingOf(
  edge: Edge,
  state: TaskState,
  view: A2aView,
): Promise<Record<string, unknown>> {
  if (isTerminal(view.state)) return {};
  const known = await surroundingsOf(edge, state);
  const wall = wallOf(state, known);
  return {
    waits: whyWaiting(state, known.around),
    ...(wall?.reason ? { reason: wall.reason } : {}),
    ...(wall?.untilMs === undefined ? {} : { until: iso(wall.untilMs) }),
  };
}

/** What a queued task can't get past now: its last run's wall, its agent's a(t), or that of all who could do it. */
function wallOf(
  state: TaskState,
  { around: { availability, nowMs }, forecast }: Known,
): { readonly reason: string; readonly untilMs?: number | undefined } | undefined {
  const away = availability?.a === 0 ? availability : undefined;
  const facts = away ?? (forecast?.do === 'route' ? undefined : forecast);
  const park = standingPark(state, nowMs);
  if (facts === undefined) return park;
  const reasons = [...(park ? [park.reason] : []), ...facts.reasons];
  const ends = [park?.untilMs, facts.untilMs].filter((ms) => ms !== undefined);
  return {
    reason: reasons.join('; '),
    ...(ends.length > 0 ? { untilMs: Math.max(...ends) } : {}),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
