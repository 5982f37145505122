import type { TaskState } from '../../fabric/domain/state.ts';
import type { ArtifactStore } from '../../fabric/ports/artifact-store.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { isSharedWith } from './task-owner.ts';
import { resultTextOf, wishOf } from './task-text.ts';

/** One earlier exchange of a conversation. */
export interface Turn {
  readonly asked: string;
  readonly answered: string;
}

export interface ConversationDeps {
  readonly board: Pick<TaskBoard, 'find'>;
  readonly artifacts: ArtifactStore;
}

/** How many tasks of a context are looked through for those that count. */
const mostLooked = 200;

/**
 * What was said before in this context between this agent and the human (else submitter) of this task,
 * eldest first, the newest `mostMessages` messages. What another human said in it is never in it.
 */
export async function earlierTurns(
  { board, artifacts }: ConversationDeps,
  state: TaskState,
  mostMessages: number,
): Promise<readonly Turn[]> {
  const { contextId, agentId } = state;
  if (agentId === undefined) return [];
  const { states } = await board.find({ contextId, agentId, limit: mostLooked });
  const earlier = states
    .filter((other) => other.taskId !== state.taskId && isSharedWith(state, other))
    // A child is asked by a run, not in the conversation.
    .filter((other) => other.task.provenance.submitter === state.task.provenance.submitter)
    .filter((other) => other.outcome !== undefined && other.submittedAtMs <= state.submittedAtMs)
    .sort((one, other) => one.submittedAtMs - other.submittedAtMs)
    .slice(-Math.floor(mostMessages / 2));
  return Promise.all(
    earlier.map(async (other) => ({
      asked: wishOf(other),
      answered: (await resultTextOf(other, artifacts)) ?? '',
    })),
  );
}
