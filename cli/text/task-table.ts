import { standingPark, type TaskState } from '../../fabric/domain/state.ts';
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
    stateWords(state, { nowMs, unavailable }),
    state.agentId ?? targetWords(state.task.target),
    relative(state.phaseAtMs, nowMs),
    oneLine(state.task.intent.title, titleChars),
  ]);
  return table(['task', 'state', 'agent', 'since', 'what'], rows, 'No tasks.', most);
}

/** With the end of the wall that its last run met, where that stands. */
function stateWords(state: TaskState, { nowMs, unavailable }: TableSurroundings): string {
  const words = phaseWords(state, isParked(state, unavailable, nowMs));
  const park = standingPark(state, nowMs);
  return park ? `${words}, ${relative(park.untilMs, nowMs)}` : words;
}

/** Its agent can't work now, or its last run met a wall that still stands. */
export function isParked(
  state: TaskState,
  unavailable: ReadonlySet<string>,
  nowMs: number,
): boolean {
  const { agentId } = state;
  const isAway = agentId !== undefined && unavailable.has(agentId);
  return isAway || standingPark(state, nowMs) !== undefined;
}
