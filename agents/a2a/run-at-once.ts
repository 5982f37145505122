import { reasonOf } from '../../fabric/domain/errors.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import type { RunTask } from '../../fabric/ports/run-task.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import type { Slot } from '../../fabric/queue/slots.ts';
import type { Edge } from './edge.ts';

/** A free place of a persona of this process, taken for a run that a caller waits for. */
export interface Place extends Slot {
  readonly policy: AgentPolicy;
  readonly runTask: RunTask;
}

/**
 * Takes a place for a run at once; undefined where the persona is async-only, not available, busy or
 * run by another process: then its worker takes the task from the board.
 */
export function takePlace(edge: Edge, agentId: string | undefined): Place | undefined {
  const policy = edge.queue.directory.agent(agentId ?? '');
  if (policy === undefined || policy.asyncOnly || edge.stopping.aborted) return undefined;
  const runTask = edge.personas.runTaskOf(policy.agentId);
  if (runTask === undefined) return undefined;
  if (edge.availability.at(policy.agentId, 'interactive').a === 0) return undefined;
  const slot = edge.slots.tryTake(policy.agentId, policy.concurrency);
  if (slot === undefined) return undefined;
  // From here on: the task may be on the board before its run is.
  const over = edge.runs.begin();
  return {
    ...{ ...slot, policy, runTask },
    giveBack() {
      slot.giveBack();
      over();
    },
  };
}

/**
 * Claims the task and begins its run, which goes on whatever becomes of the caller (H1). Returns when
 * the claim is on record; gives the place back when somebody else holds the task, or after the run.
 */
export async function runAtOnce(edge: Edge, state: TaskState, place: Place): Promise<TaskState> {
  const { policy, runTask } = place;
  const { queue, actors, incarnation, stopping } = edge;
  const over = edge.runs.begin();
  let held;
  try {
    held = await claimTask(queue, state.taskId, {
      policy,
      incarnation,
      startNow: true,
      // A pure answer may be made again: nobody acts on its claim (`DESIGN.md` 5.1).
      durability: state.task.effects === 'none' ? 'buffered' : 'committed',
    });
  } catch (error) {
    place.giveBack();
    over();
    throw error;
  }
  if (held === undefined) {
    place.giveBack();
    over();
    return state;
  }
  const { uid, fence } = held;
  place.holdFor(uid);
  let isOver = false;
  actors.begin(held.state, ({ claim }) => {
    // The place is free before the answer is out: the caller may send the next message at once.
    if (isOver && claim?.fence !== fence) place.giveBack();
  });
  const run = runHeld(queue, held, {
    policy,
    runTask: (task, signal) =>
      runTask(task, signal).finally(() => {
        isOver = true;
      }),
    interactive: true,
    stopping,
    onChunk: (text) => actors.chunk(uid, text),
    onProgress: (text) => actors.progress(uid, text),
  });
  void run
    .catch((error: unknown) => {
      queue.log.error('edge.run-fault', { taskId: uid, reason: reasonOf(error) });
    })
    .finally(() => {
      place.giveBack();
      over();
    });
  return held.state;
}
