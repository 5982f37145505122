import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopes, type Scope } from '../../fabric/domain/principal.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { errorOf, message, rpc, taskOf } from '../support/edge-calls.ts';
import { shout } from '../support/edge-runs.ts';

let mesh: EdgeMesh;
let token: string;
let url: string;
beforeAll(async () => {
  mesh = await edgeMesh({ cards: [{ id: 'coder', name: 'Coder', verification: 'reviewer' }] });
  token = await mesh.tokenOf('alvis');
  url = mesh.urlOf('adolf');
});
afterAll(() => mesh.close());

const send = (params: object, options = {}) =>
  rpc(url, 'SendMessage', params, { token, ...options });

describe('the submit extension', () => {
  it('makes a task that waits to be verified by its submitter', async () => {
    mesh.runs.set('adolf', shout);
    const task = taskOf(await send({ message: message('check me', {}, {}) }));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(task.metadata).toMatchObject({ phase: 'done', ask: 'verify' });
    const verified = taskOf(
      await rpc(url, 'cardmesh/verify', { taskId: task.id, verdict: 'verified' }, { token }),
    );
    expect(verified.status.state).toBe('TASK_STATE_COMPLETED');
    expect(verified.metadata).toMatchObject({ verification: 'verified' });
  });

  it('shows others WORKING and what it waits for', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await send({ message: message('mine to verify', {}, {}) }));
    const watcher = await mesh.tokenOf('watcher', ['tasks:read', 'tasks:read-all']);
    const seen = taskOf(await rpc(url, 'GetTask', { id }, { token: watcher }));
    expect(seen.status.state).toBe('TASK_STATE_WORKING');
    expect(seen.metadata).toMatchObject({ phase: 'done', awaiting: 'verification' });
  });

  it('can refuse with a note and order the rework', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await send({ message: message('poor', {}, {}) }));
    const bare = { taskId: id, verdict: 'refused' };
    expect(errorOf(await rpc(url, 'cardmesh/verify', bare, { token })).code).toBe(-32602);
    const refusal = { ...bare, note: 'Louder.', rework: true };
    const refused = taskOf(await rpc(url, 'cardmesh/verify', refusal, { token }));
    expect(refused.status.state).toBe('TASK_STATE_FAILED');
    expect(refused.metadata).toMatchObject({ reason: 'verification-refused' });
    expect(JSON.stringify(refused.metadata?.['links'])).toContain('rework');
  });

  it.each([
    [{ targett: 'adolf' }, 'targett'],
    [{ priority: 7 }, 'priority'],
    [{ score: 4 }, 'score'],
    [{ deadline: 'tomorrow' }, 'deadline'],
    [{ target: 'helper' }, 'target'],
    [{ constraints: { tier: 'large' } }, 'constraints'],
    [{ contextRefs: ['nonsense'] }, 'contextRefs'],
    [{ execution: { model: 'no-such' } }, 'execution'],
  ])('refuses %j and names the field', async (extension, field) => {
    const reply = await send({ message: message('bad', {}, extension) });
    expect(reply.error?.code).toBe(-32602);
    expect(JSON.stringify(reply.error?.data)).toContain(field);
  });

  it('says why a task stands still', async () => {
    mesh.away.set('adolf', { a: 0, reasons: ['closed for the night'] });
    const { id } = taskOf(await send({ message: message('why', {}, {}) }));
    const reply = await rpc(url, 'cardmesh/why', { taskId: id }, { token });
    mesh.away.delete('adolf');
    expect(JSON.stringify(reply.result)).toContain('closed for the night');
  });

  it.each<[string, object, Scope]>([
    ['edit', { edit: { priority: 1 } }, 'tasks:submit'],
    ['pause', {}, 'tasks:cancel'],
    ['resume', {}, 'tasks:answer'],
    ['admit', {}, 'tasks:answer'],
    ['revoke', { to: 'paused' }, 'tasks:cancel'],
    ['archive', {}, 'tasks:cancel'],
    ['deadletter', { reason: 'nobody wants it' }, 'tasks:cancel'],
  ])(
    'lets a person %s a task with the scope for that and without all others',
    async (verb, more, scope) => {
      mesh.away.set('adolf', { a: 0, reasons: ['away'] });
      const { id: taskId } = taskOf(await send({ message: message(verb, {}, {}) }));
      mesh.away.delete('adolf');
      const steer = async (scopesOfToken: readonly Scope[]) => {
        const params = { taskId, do: verb, ...more };
        const as = { token: await mesh.tokenOf('alvis', scopesOfToken) };
        return rpc(url, 'cardmesh/steer', params, as);
      };
      const without = await steer(scopes.filter((one) => one !== scope));
      expect([without.status, errorOf(without).reason]).toEqual([403, 'TRUST_DENIED']);
      expect(JSON.stringify(without.error)).toContain(scope);
      const only = await steer([scope]);
      expect(only.status).toBe(200);
      expect(errorOf(only).reason).not.toBe('TRUST_DENIED');
    },
  );

  it('takes no steering that it does not know', async () => {
    const reply = await rpc(
      url,
      'cardmesh/steer',
      { taskId: 'f'.repeat(32), do: 'juggle' },
      { token },
    );
    expect(errorOf(reply).code).toBe(-32602);
  });

  it('lets a person pause and take up a task, and no agent', async () => {
    mesh.away.set('adolf', { a: 0, reasons: ['away'] });
    const { id } = taskOf(await send({ message: message('hold', {}, {}) }));
    const paused = taskOf(await rpc(url, 'cardmesh/steer', { taskId: id, do: 'pause' }, { token }));
    expect(paused.metadata?.['phase']).toBe('paused');
    const agent = await mesh.signed('helper', 'adolf');
    const denied = await rpc(url, 'cardmesh/steer', { taskId: id, do: 'resume' }, { token: agent });
    expect(denied.error).toBeDefined();
    mesh.away.delete('adolf');
  });
});
