import type { Message } from '@a2a-js/sdk';
import { concerning, maySee } from '../../fabric/domain/access.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { ContextId } from '../../fabric/domain/ids.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Target } from '../../fabric/domain/task.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { checkedSubmit, submitTask, taskIdOf } from '../../fabric/queue/submit.ts';
import { routeWishOf } from '../runtimes/route-question.ts';
import type { Edge } from './edge.ts';
import { invalidField } from './invalid-params.ts';
import { intentOf, partsOf } from './message-content.ts';
import { takePlace, type Place } from './run-at-once.ts';
import { submitExtensionOf, type SubmitExtension } from './submit-extension.ts';
import { selectionOf, targetOf } from './target-of.ts';

/** How a caller wants to hear of the result. */
export interface Mode {
  /** Waits for a result, or streams it: worth running at once. */
  readonly waits: boolean;
  readonly streams: boolean;
}

/** A message that was taken in. */
export interface Accepted {
  readonly state: TaskState;
  /** Where it can run at once. */
  readonly place?: Place;
  /** Nothing will happen before a known wall or a person: whoever waits is told so at once. */
  readonly isParked: boolean;
}

/**
 * Makes a task of a message. What is not allowed, or not possible with `onUnavailable: reject`, leaves
 * nothing behind; the same message again names the same task.
 * @throws MeshError of `submitTask`; InvalidParamsError; `NO_TARGET` with `retryAtMs`
 */
export async function acceptNewTask(
  edge: Edge,
  principal: Principal,
  message: Message,
  mode: Mode,
): Promise<Accepted> {
  const extension = submitExtensionOf(message.metadata);
  const target = targetOf(edge, extension);
  const contextId = await contextFor(edge, principal, message, extension);
  const said = toRequest(message, extension);
  const selection = selectionOf(edge, target, extension) ?? (await verdictOn(edge, target, said));
  const request = {
    ...said,
    principal,
    target,
    ...(selection ? { selection } : {}),
    ...(contextId ? { contextId } : {}),
  };
  if (extension?.onUnavailable === 'reject') await refuseWhenAway(edge, request);
  const pinned = target.kind === 'agent' ? target.agentId : undefined;
  const place = mode.waits ? takePlace(edge, pinned) : undefined;
  try {
    const { state } = await submitTask(edge.queue, {
      ...request,
      mode: place ? 'sync' : 'async',
      // A waiting caller learns the id only after a later commit; a stream names it first (`DESIGN.md` 5.1).
      durability: place && !mode.streams ? 'buffered' : 'committed',
    });
    return placed(edge, await routed(edge, state), mode, place);
  } catch (error) {
    place?.giveBack();
    throw error;
  }
}

type Said = Omit<SubmitRequest, 'principal' | 'target' | 'mode'>;

/** The classifier's tier for `auto` without a score: a verdict stands for the rating (`DESIGN.md` 4). */
async function verdictOn(
  { classify }: Edge,
  target: Target,
  { intent, score = 0, contextRefs = [] }: Said,
): Promise<SubmitRequest['selection']> {
  if (target.kind !== 'auto' || score > 0) return undefined;
  return classify?.(`${intent.title}\n${intent.body}`, contextRefs.length);
}

function toRequest(message: Message, extension: SubmitExtension | undefined): Said {
  const parts = partsOf(message);
  const optional = {
    parts,
    acceptance: extension?.acceptance,
    contextRefs: extension?.contextRefs,
    priority: extension?.priority,
    score: extension?.score,
    deadlineAtMs: extension?.deadline,
    notBeforeAtMs: extension?.notBefore,
    effects: extension?.effects,
    parent: extension?.parent,
  };
  return {
    idempotencyKey: extension?.idempotencyKey ?? message.messageId,
    messageId: message.messageId,
    intent: intentOf(message),
    // Whoever speaks our extension can verify; a foreign client never would (`DESIGN.md` 4.3).
    verification: extension ? (extension.verification ?? 'card') : 'none',
    ...defined(optional),
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}

/**
 * The family that the task belongs to: the one named, if it is the caller's or nobody's yet; else its
 * parent's. Contexts have owners, although the protocol gives them none (H8).
 */
async function contextFor(
  edge: Edge,
  principal: Principal,
  message: Message,
  extension: SubmitExtension | undefined,
): Promise<string | undefined> {
  const { board } = edge.queue;
  if (message.contextId === '') {
    const parent = principal.run?.taskId ?? extension?.parent;
    return parent && (await board.read(parent))?.state.contextId;
  }
  const contextId = ContextId.parse(message.contextId);
  const own = await board.find({ contextId, ...concerning(principal), limit: 1 });
  if (own.states.some((state) => maySee(state, principal))) return contextId;
  const { states } = await board.find({ contextId, limit: 50 });
  if (states.length === 0 || states.some((state) => maySee(state, principal))) return contextId;
  throw invalidField(
    'params.message.contextId',
    'is not one that you may write into; leave it out for a new one',
  );
}

type Modeless = Omit<SubmitRequest, 'mode'>;

/**
 * @throws MeshError `NO_TARGET` when the agent is away, or nobody of those who could do it is there, and the
 *   task is not there already; for a target that is not pinned also what `submitTask` would refuse it for
 */
async function refuseWhenAway(edge: Edge, request: Modeless): Promise<void> {
  const { queue } = edge;
  if (await queue.board.read(taskIdOf(queue, request))) return;
  const { target } = request;
  const away =
    target.kind === 'agent' ? agentAway(edge, target.agentId) : await allAway(edge, request);
  if (away === undefined) return;
  throw new MeshError(
    'NO_TARGET',
    `${away.said} and the task said reject. Nothing was written; send it later, or with onUnavailable park.`,
    away.untilMs === undefined ? {} : { retryAtMs: away.untilMs },
  );
}

/** Why nobody takes a task now, in a clause, and until when. */
interface Away {
  readonly said: string;
  readonly untilMs?: number | undefined;
}

function agentAway({ availability }: Edge, agentId: string): Away | undefined {
  const { a, reasons, untilMs } = availability.at(agentId);
  if (a === 1) return undefined;
  return { said: `${agentId} is not available (${reasons.join('; ')})`, untilMs };
}

/** As the router would decide about what the submit puts on record; undefined where it waits for a person who could help. */
async function allAway(edge: Edge, request: Modeless): Promise<Away | undefined> {
  if (edge.foretell === undefined) return undefined;
  const { task, to } = await checkedSubmit(edge.queue, { ...request, mode: 'async' });
  const forecast = await edge.foretell(routeWishOf({ ...task, task }));
  if (forecast.do === 'route') return undefined;
  const waitsForPerson = to !== 'ready' && to !== 'scheduled';
  // No word of a person, and no score, makes an agent of those that there are fit.
  if (waitsForPerson && forecast.why !== 'noCandidate') return undefined;
  const said = `Nobody who could do it is available (${forecast.reasons.join('; ')})`;
  return { said, untilMs: forecast.untilMs };
}

/** A task without an agent is the router's to place; one that waits for a rating comes back later. */
async function routed(edge: Edge, state: TaskState): Promise<TaskState> {
  if (state.agentId !== undefined || edge.route === undefined) return state;
  return state.phase === 'ready' || state.phase === 'scheduled' ? edge.route(state) : state;
}

function placed(edge: Edge, state: TaskState, { waits }: Mode, taken: Place | undefined): Accepted {
  const isReady = state.phase === 'ready';
  const place = isReady && waits ? (taken ?? takePlace(edge, state.agentId)) : undefined;
  if (place !== taken) taken?.giveBack();
  const isQueued = isReady || state.phase === 'scheduled';
  const isAway = state.agentId === undefined || edge.availability.at(state.agentId).a === 0;
  return place ? { state, isParked: false, place } : { state, isParked: isQueued && isAway };
}
