import { MeshError } from '../../fabric/domain/errors.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import { unknownTask } from '../../fabric/queue/refusals.ts';
import { withoutCredentials } from '../auth/credential.ts';
import { withoutSecrets } from '../runtimes/runner-environment.ts';
import { isRouter, type Edge } from './edge.ts';

/**
 * A sentence of a run's program about what it does now, shown to whoever follows the task's stream at this
 * process. It is never kept with the task and says nothing about how the run ends.
 * @throws MeshError `TRUST_DENIED` for anybody but a run whose Card has `progress`, and for another task than
 *   its own; `LEASE_LOST` where the claim of that run does not work any more; `CAPACITY` past its share
 */
export async function addProgress(
  edge: Edge,
  { id, run }: Principal,
  { taskId, text }: { readonly taskId?: TaskId | undefined; readonly text: string },
): Promise<void> {
  if (run === undefined) {
    throw denied('Only a run may say what it does: call with its own MESH_TASK_TOKEN.');
  }
  if (taskId !== undefined && taskId !== run.taskId) {
    throw denied(`A run of ${id} may add progress to its own task ${run.taskId}, to no other one.`);
  }
  if (edge.registry.card(id)?.progress !== true) {
    throw denied(`The Card of ${id} does not let its runs add progress. Set progress: true there.`);
  }
  const state = (await edge.queue.board.read(run.taskId))?.state;
  if (state === undefined || !(state.agentId === edge.agentId || isRouter(edge))) {
    throw unknownTask(run.taskId);
  }
  const { claim } = state;
  if (state.phase !== 'working' || claim?.fence !== run.fence || claim.holder !== id) {
    throw new MeshError(
      'LEASE_LOST',
      `Task ${run.taskId} is not worked on under fence ${run.fence} any more. Stop and discard this run.`,
      { taskId: run.taskId },
    );
  }
  const retryAtMs = edge.progressMeter.spentUntil(run);
  if (retryAtMs !== undefined) {
    throw new MeshError('CAPACITY', 'This run has said enough for now. Say less, or later.', {
      ...{ taskId: run.taskId, retryAtMs },
    });
  }
  const shown = withoutSecrets(withoutCredentials(text), edge.secretsOf?.(id) ?? []);
  edge.actors.progress(run.taskId, shown);
}

const denied = (message: string): MeshError => new MeshError('TRUST_DENIED', message);
