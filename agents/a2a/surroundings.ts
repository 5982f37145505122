import type { TaskState } from '../../fabric/domain/state.ts';
import { holdOf } from '../../fabric/queue/hold.ts';
import type { Surroundings } from '../../fabric/queue/why.ts';
import type { RouteForecast } from '../runtimes/route-dry-run.ts';
import { routeWishOf } from '../runtimes/route-question.ts';
import type { Edge } from './edge.ts';

/** What is known here of why a task waits; only of one that waits in a queue there is more than the time. */
export interface Known {
  readonly around: Surroundings;
  /** What the router would decide now; only where no agent is chosen yet. */
  readonly forecast?: RouteForecast;
}

export async function surroundingsOf(edge: Edge, state: TaskState): Promise<Known> {
  const [known, frozen] = await Promise.all([knownOf(edge, state), edge.queue.board.frozen?.()]);
  return frozen === undefined ? known : { ...known, around: { ...known.around, frozen } };
}

async function knownOf(edge: Edge, state: TaskState): Promise<Known> {
  const { queue, availability, slots, foretell } = edge;
  const nowMs = queue.clock.nowMs();
  if (state.claim) return { around: { nowMs, ...(await heldSince(edge, state, nowMs)) } };
  if (state.question) return { around: { nowMs, ...addresseeOf(edge, state.question) } };
  if (state.phase !== 'ready' && state.phase !== 'scheduled') return { around: { nowMs } };
  const { agentId } = state;
  if (agentId === undefined) {
    const forecast = await foretell?.(routeWishOf(state));
    return forecast
      ? { forecast, around: { nowMs, choice: forecast.sentence } }
      : { around: { nowMs } };
  }
  const limit = queue.directory.agent(agentId)?.concurrency;
  return {
    around: {
      nowMs,
      availability: availability.at(agentId),
      ...(limit ? { slots: { taken: slots.takenByOthers(agentId, state.taskId), limit } } : {}),
    },
  };
}

/** a(t) of the person that a question is put to; nothing where it is somebody without a Card. */
function addresseeOf(
  { queue, availability }: Edge,
  { to: [person] }: NonNullable<TaskState['question']>,
): Pick<Surroundings, 'addressee'> {
  if (person === undefined || queue.directory.agent(person)?.trust !== 'human') return {};
  return { addressee: availability.at(person) };
}

/** How the holder of a claim stands; nothing where the claim has ended since `state` was read. */
async function heldSince(
  { queue, isDead }: Edge,
  { taskId, claim }: TaskState,
  nowMs: number,
): Promise<Pick<Surroundings, 'hold'>> {
  const log = await queue.board.read(taskId);
  const now = log?.state.claim;
  if (log === undefined || now?.fence !== claim?.fence) return {};
  const hold = holdOf(log, nowMs, (now && (await isDead?.(now.incarnation))) ?? false);
  return hold ? { hold } : {};
}
