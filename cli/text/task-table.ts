import type { TaskState } from '../../fabric/domain/state.ts';
import { shortId } from '../task-ref.ts';
import { table } from './columns.ts';
import { targetWords } from './event-sentence.ts';
import { phaseWords } from './phase-words.ts';
import { oneLine } from './printable.ts';
import { relative } from './relative-time.ts';

export interface TableSurroundings {
  readonly nowMs: number;
  /** Agents that can't work now: what waits for them is parked. */
  readonly unavailable: ReadonlySet<string>;
  /** Places of the terminal; undefined where nothing is cut. */
  readonly most?: number | undefined;
}

const titleChars = 60;

/** Tasks as people list them: which, how it stands, with whom, since when, what it is. */
export function taskTable(
  states: readonly TaskState[],
  { nowMs, unavailable, most }: TableSurroundings,
): string {
  const rows = states.map((state) => [
    shortId(state.taskId),
    phaseWords(state, isParked(state, unavailable, nowMs)),
    state.agentId ?? targetWords(state.task.target),
    relative(state.phaseAtMs, nowMs),
    oneLine(state.task.intent.title, titleChars),
  ]);
  return table(['task', 'state', 'agent', 'since', 'what'], rows, 'No tasks.', most);
}

/** Its agent can't work now, or its last run met a wall that still stands. */
export function isParked(
  state: TaskState,
  unavailable: ReadonlySet<string>,
  nowMs: number,
): boolean {
  const { agentId, parked } = state;
  return (agentId !== undefined && unavailable.has(agentId)) || (parked?.untilMs ?? 0) > nowMs;
}
