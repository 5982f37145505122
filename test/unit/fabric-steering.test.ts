import { describe, expect, it } from 'vitest';
import { scopes } from '../../fabric/domain/principal.ts';
import { steerTask, type Steering } from '../../fabric/queue/steer.ts';
import { agentCaller, person, queueMesh } from '../support/queue-mesh.ts';

const steerings: readonly (readonly [string, Steering, 'tasks:submit' | 'tasks:cancel'])[] = [
  ['admit', { do: 'admit' }, 'tasks:submit'],
  ['resume', { do: 'resume' }, 'tasks:submit'],
  ['edit', { do: 'edit', edit: { priority: 1 } }, 'tasks:submit'],
  ['pause', { do: 'pause' }, 'tasks:cancel'],
  ['revoke', { do: 'revoke', to: 'ready' }, 'tasks:cancel'],
  ['archive', { do: 'archive' }, 'tasks:cancel'],
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
