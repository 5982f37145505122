import { describe, expect, it } from 'vitest';
import { AgentId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { VerificationPolicy } from '../../fabric/domain/trust.ts';
import { routeTask } from '../../fabric/queue/route.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { agent } from '../support/board-builders.ts';
import { queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const policies = VerificationPolicy.options;
const need = { kind: 'constraints', need: { tier: 'small' } } as const;

const mesh = () =>
  queueMesh(...policies.map((verification) => ({ id: verification, verification })));

/** Submits to the agent, or to nobody in particular and then routed to it. */
async function given(
  { submit, deps }: QueueMesh,
  how: 'pinned' | 'routed',
  id: string,
  said: Partial<SubmitRequest>,
): Promise<TaskState> {
  const agentId = AgentId.parse(id);
  if (how === 'pinned') return submit({ ...said, target: { kind: 'agent', agentId } });
  const { taskId } = await submit({ ...said, target: need });
  return routeTask(deps, agent('router'), taskId, { agentId });
}

describe.each(['pinned', 'routed'] as const)('who verifies a task, %s', (how) => {
  it.each(policies)('is whom its Card names where nobody says more: %s', async (policy) => {
    const { task, needsHumanVerify } = await given(mesh(), how, policy, { verification: 'card' });
    expect(task.verification).toBe(policy);
    expect(task.verificationOpen).toBeUndefined();
    expect(needsHumanVerify).toBe(policy === 'human');
  });

  it.each(policies)('is whom its submitter names, whatever the Card says: %s', async (policy) => {
    const one = mesh();
    for (const id of policies) {
      const { task, needsHumanVerify } = await given(one, how, id, { verification: policy });
      expect(task.verification).toBe(policy);
      expect(needsHumanVerify).toBe(policy === 'human');
    }
  });
});

it('is its submitter while no agent is chosen', async () => {
  const { task } = await mesh().submit({ target: need, verification: 'card' });
  expect(task.verification).toBe('submitter');
});
