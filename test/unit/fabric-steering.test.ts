import { describe, expect, it } from 'vitest';
import { AgentId } from '../../fabric/domain/ids.ts';
import { scopes, type Scope } from '../../fabric/domain/principal.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { steerTask, type Steering } from '../../fabric/queue/steer.ts';
import { agentCaller, person, queueMesh } from '../support/queue-mesh.ts';

const steerings: readonly (readonly [string, Steering, Scope])[] = [
  ['admit', { do: 'admit' }, 'tasks:answer'],
  ['resume', { do: 'resume' }, 'tasks:answer'],
  ['edit', { do: 'edit', edit: { priority: 1 } }, 'tasks:submit'],
  ['pause', { do: 'pause' }, 'tasks:cancel'],
  ['revoke', { do: 'revoke', to: 'ready' }, 'tasks:cancel'],
  ['archive', { do: 'archive' }, 'tasks:cancel'],
  ['give up', { do: 'deadletter', reason: 'nobody wants it' }, 'tasks:cancel'],
];

describe.each(steerings)('to %s a task', (_name, steering, scope) => {
  it('takes more than seeing it', async () => {
    const mesh = queueMesh();
    const { taskId, version } = await mesh.submit();
    const reader = { ...person('mallory'), scopes: new Set(scopes.filter((s) => s !== 'admin')) };
    await expect(steerTask(mesh.deps, reader, taskId, steering)).rejects.toMatchObject({
      code: 'TRUST_DENIED',
    });
    expect((await mesh.stateOf(taskId)).version).toBe(version);
  });

  it('takes the scope for it', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const without = person(
      'alvis',
      scopes.filter((one) => one !== scope),
    );
    await expect(steerTask(mesh.deps, without, taskId, steering)).rejects.toMatchObject({
      code: 'TRUST_DENIED',
      facts: { scope },
    });
  });

  it('is nobody’s business who may not see it', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    await expect(steerTask(mesh.deps, person('mallory'), taskId, steering)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

it('is what its person may do', async () => {
  const { deps, submit } = queueMesh();
  const { taskId } = await submit({ principal: agentCaller('adolf') });
  const paused = await steerTask(deps, person('alvis'), taskId, { do: 'pause' });
  expect(paused.phase).toBe('paused');
});

it('gives a task up for a person, whether somebody holds it or not, and says why', async () => {
  const { deps, submit, run } = queueMesh();
  const waiting = await submit();
  const reason = 'nobody wants it';
  const after = await steerTask(deps, person('alvis'), waiting.taskId, {
    do: 'deadletter',
    reason,
  });
  expect(after).toMatchObject({ phase: 'dead-letter', failure: reason });
  const held = await submit();
  const claimed = await claimTask(deps, held.taskId, {
    policy: { agentId: AgentId.parse('adolf'), leaseMs: 60_000 },
    incarnation: 'here',
    startNow: true,
  });
  expect(claimed?.state.phase).toBe('working');
  const ended = await steerTask(deps, person('alvis'), held.taskId, { do: 'deadletter', reason });
  expect(ended).toMatchObject({ phase: 'dead-letter', failure: reason });
  expect(ended.claim).toBeUndefined();
  const over = await submit({ verification: 'none' });
  await run(over.taskId, { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } });
  await expect(
    steerTask(deps, person('alvis'), over.taskId, { do: 'deadletter', reason }),
  ).rejects.toMatchObject({ code: 'BAD_TRANSITION' });
});

it('lets no agent give up what it does not hold', async () => {
  const { deps, submit } = queueMesh();
  const { taskId } = await submit();
  await expect(
    steerTask(deps, agentCaller('adolf'), taskId, { do: 'deadletter', reason: 'no' }),
  ).rejects.toMatchObject({ code: 'TRUST_DENIED' });
});
