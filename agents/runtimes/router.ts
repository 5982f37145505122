import { MeshError, reasonOf } from '../../fabric/domain/errors.ts';
import type { Author } from '../../fabric/domain/events.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { unclaimedPhases, type TaskState } from '../../fabric/domain/state.ts';
import type { Question, Selection } from '../../fabric/domain/task.ts';
import { decisionIdFor, humanFor } from '../../fabric/domain/transition/questions.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { ratingQuestion } from '../../fabric/queue/rating.ts';
import { routeTask } from '../../fabric/queue/route.ts';
import type { RouteDecision } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { TargetResolver } from '../../router/resolve-target.ts';
import { routeQuestion, routeWishOf } from './route-question.ts';

export interface RoutingDeps extends QueueDeps {
  readonly resolver: TargetResolver;
  /** The router persona of the newest Cards: author of what it decides; its queue holds what waits for it. */
  readonly routerId: () => string;
}

/** Decides a task that has no agent yet; returns its state after it, unchanged where it has to wait. */
export type RouteTask = (state: TaskState) => Promise<TaskState>;

/**
 * What the edge calls right after the submit, and `startRouting` for what had to wait. The decision goes
 * on record under the task's own uid before anybody relays; a task that was routed stays as it is.
 */
export function routeNewTask(deps: RoutingDeps): RouteTask {
  return async (state) => {
    if (state.agentId !== undefined || !unclaimedPhases.has(state.phase)) return state;
    const { decision } = await deps.resolver.resolve(
      routeQuestion(deps.directory, routeWishOf(state)),
    );
    deps.log.info('task.route', { taskId: state.taskId, do: decision.do, why: sentence(decision) });
    switch (decision.do) {
      case 'route':
        return routed(deps, state, decision);
      case 'park':
        return state;
      case 'reject':
        return refused(deps, state, decision);
    }
  };
}

const authorOf = ({ routerId }: RoutingDeps): Author => ({
  id: AgentId.parse(routerId()) as string as Author['id'],
  role: 'agent',
});

async function routed(
  deps: RoutingDeps,
  state: TaskState,
  decision: Extract<RouteDecision, { do: 'route' }>,
): Promise<TaskState> {
  const agentId = AgentId.parse(decision.agentId);
  const selection: Selection = {
    ...(decision.backbone && { model: decision.backbone.gatewayModel }),
    source: 'router',
    ...(decision.explain.tier && { tier: decision.explain.tier }),
    explain: sentence(decision).slice(0, limits.messageChars),
  };
  try {
    return await routeTask(deps, authorOf(deps), state.taskId, { agentId, selection });
  } catch (error) {
    // Somebody paused, canceled or asked about it meanwhile: their event stands. Or the Cards changed
    // since the decision: the next look decides on the new set.
    if (!(error instanceof MeshError) || error.code === 'FABRIC_DOWN') throw error;
    return (await deps.board.read(state.taskId))?.state ?? state;
  }
}

/** What waiting can't mend is put to a person, at once and once. */
async function refused(
  deps: RoutingDeps,
  state: TaskState,
  decision: Extract<RouteDecision, { do: 'reject' }>,
): Promise<TaskState> {
  const by = { id: state.task.responsible, role: 'fabric' as const };
  return change(deps, state.taskId, ({ state: now }) => {
    if (now.agentId !== undefined || !isAskable(now)) return undefined;
    const question = questionAbout(now, decision);
    return question && eventOf(deps, by, 'asked', { question });
  });
}

/** What a person is asked about a refusal; undefined where they have said already what they want. */
function questionAbout(
  now: TaskState,
  { why, reasons }: Extract<RouteDecision, { do: 'reject' }>,
): Question | undefined {
  switch (why) {
    case 'needsScore':
      // Rated since the decision: the next look decides with the score.
      return now.score === 0 ? ratingQuestion(now) : undefined;
    case 'deadlineBeforeFree':
      return wasAskedSince(now) ? undefined : deadlineQuestion(now, reasons.join('; '));
    case 'unknownAgent':
    case 'noCandidate':
      return nobodyQuestion(now, reasons.join('; '));
  }
}

const isAskable = ({ phase }: TaskState): boolean =>
  phase === 'submitted' || phase === 'ready' || phase === 'scheduled';

/** "Go on" holds for this deadline; it is not asked about again. */
const wasAskedSince = ({ decisions }: TaskState): boolean =>
  decisions.some(({ kind, value }) => kind === 'deadline' && value === 'go on');

function deadlineQuestion(state: TaskState, why: string): Question {
  return {
    decisionId: decisionIdFor(state),
    kind: 'deadline',
    text:
      `Nobody who can do this task is free before its deadline (${why.slice(0, 600)}). go on = it waits and is ` +
      'done late, cancel = end it. For a new deadline set it first (mesh task edit), then answer go on.',
    options: ['go on', 'cancel'],
    to: [humanFor(state)],
    urgent: true,
  };
}

function nobodyQuestion(state: TaskState, why: string): Question {
  return {
    decisionId: decisionIdFor(state),
    kind: 'escalation',
    text:
      `No registered agent can do this task (${why.slice(0, 600)}). retry = look again, once a Card was added ` +
      'or changed; cancel = end it.',
    options: ['retry', 'cancel'],
    to: [humanFor(state)],
  };
}

export interface Routing {
  /** Decide again now: a(t) or the Cards may have changed. */
  readonly wake: () => void;
  readonly stop: () => Promise<void>;
}

const pageSize = 500;

/**
 * Decides the tasks that wait in the router's queue, on hints and each poll. Each time anew: an old route
 * is never replayed, for what it was decided on has changed (`reference/litellm.md` 5.5).
 */
export function startRouting(deps: RoutingDeps, pollMs: number = limits.pollMs): Routing {
  const stopping = new AbortController();
  const route = routeNewTask(deps);
  let wakeUp = new AbortController();
  const wake = () => wakeUp.abort();
  const unwatch = deps.board.watch((_uid, state) => {
    if (state.agentId === undefined && isAskable(state)) wake();
  });
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      wakeUp = new AbortController();
      await decideWaiting(deps, route, stopping.signal);
      await deps.clock.sleep(pollMs * (0.75 + deps.random.fraction() / 2), wakeUp.signal);
    }
  })();
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      unwatch();
      await loop;
    },
  };
}

async function decideWaiting(
  deps: RoutingDeps,
  route: RouteTask,
  stopping: AbortSignal,
): Promise<void> {
  try {
    const queue = deps.directory.agent(deps.routerId())?.queue;
    if (queue === undefined) return;
    let cursor: string | undefined;
    do {
      const page = await deps.board.find({
        queue,
        phases: ['ready', 'scheduled'],
        limit: pageSize,
        ...(cursor !== undefined && { cursor }),
      });
      for (const state of page.states) {
        if (stopping.aborted) return;
        if (state.agentId === undefined) await route(state);
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  } catch (error) {
    const isDown = error instanceof MeshError && error.code === 'FABRIC_DOWN';
    const about = { agent: deps.routerId(), reason: reasonOf(error) };
    if (isDown) deps.log.warn('routing.board-down', about);
    else deps.log.error('routing.fault', about);
  }
}
