import { limits } from './limits.ts';
import type { TaskState } from './state.ts';

/** Ranks of the order of taking: priority 1, own work in progress, 2, 0, 3 (`DESIGN.md` 4). */
const rankOfPriority = { 1: 0, 2: 4, 0: 6, 3: 8 } as const;
const ownWork = 2;

/**
 * Where a ready task stands in its queue: the lower, the sooner; within a rank by board position,
 * then age. Own work in progress = its last started event is this queue's agent's. What has only its
 * last attempt left may kill its worker once more, so it goes behind all others of its priority (bug
 * log G-17: a healthy task is done before the third attempt of a poisonous one).
 */
export function takingRank(state: TaskState): number {
  const rank = rankOfPriority[state.priority];
  if (state.attempts >= limits.attempts - 1) return rank + 1;
  const holder: string | undefined = state.lastStartedBy;
  const isOwn = holder !== undefined && holder === state.agentId;
  return isOwn && rank > ownWork ? ownWork : rank;
}
