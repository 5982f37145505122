import { TaskState as WireState, type ListTasksRequest, type ListTasksResponse } from '@a2a-js/sdk';
import type { A2aState } from '../../fabric/domain/a2a-state.ts';
import { concerning } from '../../fabric/domain/access.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { Phase, TaskState } from '../../fabric/domain/state.ts';
import type { TaskQuery } from '../../fabric/ports/task-board.ts';
import { ContextId } from '../../fabric/domain/ids.ts';
import { isRouter, type Edge } from './edge.ts';
import { pageTokens } from './page-token.ts';
import { toTask, viewFor } from './task-view.ts';
import { isVisible } from './visible-task.ts';

const defaultPageSize = 50;

/** Phases that may show as each state; `a2a-state.ts` has the last word. */
export const phasesShownAs: Readonly<Record<A2aState, readonly Phase[]>> = {
  SUBMITTED: ['suggested', 'submitted', 'ready', 'scheduled', 'paused'],
  WORKING: [
    ...(['suggested', 'submitted', 'ready', 'scheduled', 'paused'] as const),
    ...(['claimed', 'working', 'waiting-event'] as const),
    ...(['done', 'reviewing', 'approved', 'deploying', 'deploy-failed'] as const),
  ],
  INPUT_REQUIRED: ['input-required', 'needs-review', 'done', 'approved'],
  COMPLETED: [
    ...(['done', 'reviewing', 'approved', 'deploying', 'deploy-failed'] as const),
    ...(['verified', 'archived'] as const),
  ],
  FAILED: ['refused', 'dead-letter', 'archived'],
  CANCELED: ['canceled', 'archived'],
  REJECTED: ['rejected', 'split', 'archived'],
};

const statesOnWire = new Map<WireState, A2aState | 'none'>([
  [WireState.TASK_STATE_SUBMITTED, 'SUBMITTED'],
  [WireState.TASK_STATE_WORKING, 'WORKING'],
  [WireState.TASK_STATE_INPUT_REQUIRED, 'INPUT_REQUIRED'],
  [WireState.TASK_STATE_COMPLETED, 'COMPLETED'],
  [WireState.TASK_STATE_FAILED, 'FAILED'],
  [WireState.TASK_STATE_CANCELED, 'CANCELED'],
  [WireState.TASK_STATE_REJECTED, 'REJECTED'],
  // No task of ours ever waits for a credential.
  [WireState.TASK_STATE_AUTH_REQUIRED, 'none'],
]);

/**
 * The tasks of this persona that the caller may see, newest status first, task id as tie-break. The
 * status may change between two pages, so a task can be missed or come twice (A2A #1263). `totalSize` is
 * exact: what shows as one thing to this caller and as another to others is looked at one by one.
 */
export async function listTasks(
  edge: Edge,
  principal: Principal,
  request: ListTasksRequest,
): Promise<ListTasksResponse> {
  const wanted = statesOnWire.get(request.status);
  const pageSize = request.pageSize ?? defaultPageSize;
  if (wanted === 'none') return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
  const query = queryOf(edge, principal, request, wanted);
  const tokens = pageTokens(edge.queue.meshSecret);
  const boundTo = [principal.id, edge.agentId, query];
  const start = request.pageToken === '' ? undefined : tokens.open(request.pageToken, boundTo);
  const page = await collected(edge, principal, { query, start, wanted, pageSize });
  const others = await unlike(edge, principal, query, wanted);
  // As in `visibleTask`: nobody outside hears of what a crash could still take back.
  await edge.queue.board.flush();
  const viewing = {
    principal,
    historyLength: request.historyLength,
    withArtifacts: request.includeArtifacts ?? false,
  };
  return {
    tasks: await Promise.all(page.states.map((state) => toTask(edge, state, viewing))),
    nextPageToken: page.cursor === undefined ? '' : tokens.seal(page.cursor, boundTo),
    pageSize,
    totalSize: page.total - others,
  };
}

/**
 * To everybody the same, save what is done and waits to be verified: whoever may verify it sees
 * INPUT_REQUIRED, everybody else WORKING (`DESIGN.md` 4.3). Both states are asked for with all of these.
 */
const shownTo: Readonly<Record<A2aState, Pick<TaskQuery, 'shownAs' | 'openOnly'>>> = {
  SUBMITTED: { shownAs: 'SUBMITTED' },
  WORKING: { shownAs: 'WORKING' },
  INPUT_REQUIRED: { openOnly: true },
  COMPLETED: { shownAs: 'COMPLETED' },
  FAILED: { shownAs: 'FAILED' },
  CANCELED: { shownAs: 'CANCELED' },
  REJECTED: { shownAs: 'REJECTED' },
};
const verifiable: readonly Phase[] = ['done', 'approved'];
const mostAtOnce = 500;

/** How many of those the query finds show as something else to this caller; costs what waits to be verified. */
async function unlike(
  edge: Edge,
  principal: Principal,
  query: Omit<TaskQuery, 'limit'>,
  wanted: A2aState | undefined,
): Promise<number> {
  if (wanted !== 'WORKING' && wanted !== 'INPUT_REQUIRED') return 0;
  const { shownAs: _shown, ...rest } = query;
  const waiting = { ...rest, phases: verifiable, openOnly: true, limit: mostAtOnce };
  let others = 0;
  let cursor: string | undefined;
  do {
    const page = await edge.queue.board.find({ ...waiting, ...(cursor && { cursor }) });
    others += page.states.filter((state) => viewFor(state, principal).state !== wanted).length;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return others;
}

function queryOf(
  edge: Edge,
  principal: Principal,
  { contextId, statusTimestampAfter }: ListTasksRequest,
  wanted: A2aState | undefined,
): Omit<TaskQuery, 'limit'> {
  const sinceMs = Date.parse(statusTimestampAfter ?? '');
  return {
    ...(principal.scopes.has('tasks:read-all') ? {} : concerning(principal)),
    ...(isRouter(edge) ? {} : { agentId: edge.agentId }),
    ...(contextId === '' ? {} : { contextId: ContextId.parse(contextId) }),
    ...(wanted ? { phases: phasesShownAs[wanted], ...shownTo[wanted] } : {}),
    ...(Number.isNaN(sinceMs) ? {} : { changedSinceMs: sinceMs }),
  };
}

interface Collecting {
  readonly query: Omit<TaskQuery, 'limit'>;
  readonly start: string | undefined;
  readonly wanted: A2aState | undefined;
  readonly pageSize: number;
}

/** Reads on until the page is full: the board asked for what is left, so its cursor fits exactly. */
async function collected(
  edge: Edge,
  principal: Principal,
  { query, start, wanted, pageSize }: Collecting,
): Promise<{ states: TaskState[]; cursor: string | undefined; total: number }> {
  const states: TaskState[] = [];
  let cursor = start;
  for (;;) {
    const page = await edge.queue.board.find({
      ...query,
      limit: pageSize - states.length,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const state of page.states) {
      const fits = wanted === undefined || viewFor(state, principal).state === wanted;
      if (fits && (await isVisible(edge, principal, state))) states.push(state);
    }
    cursor = page.cursor;
    if (cursor === undefined || states.length >= pageSize) {
      return { states, cursor, total: page.total };
    }
  }
}
