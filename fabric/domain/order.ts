import type { TaskState } from './state.ts';

/** Ranks of the order of taking: priority 1, own work in progress, 2, 0, 3 (`DESIGN.md` 4). */
const rankOfPriority = { 1: 0, 2: 2, 0: 3, 3: 4 } as const;
const ownWork = 1;

/**
 * Where a ready task stands in its queue: the lower, the sooner; within a rank by board position,
 * then age. Own work in progress = its last started event is this queue's agent's.
 */
export function takingRank(state: TaskState): number {
  const rank = rankOfPriority[state.priority];
  const holder: string | undefined = state.lastStartedBy;
  const isOwn = holder !== undefined && holder === state.agentId;
  return isOwn && rank > ownWork ? ownWork : rank;
}
