import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { routeTask } from '../../fabric/queue/route.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import {
  errorOf,
  message,
  rpc,
  stream,
  taskOf,
  textsOf,
  type StreamEvent,
} from '../support/edge-calls.ts';
import { shout } from '../support/edge-runs.ts';

let mesh: EdgeMesh;
let token: string;
let router: string;
let chosen: string | undefined = 'adolf';
beforeAll(async () => {
  mesh = await edgeMesh({
    route: async ({ queue }, state) => {
      if (chosen === undefined) return state;
      const by = { id: PrincipalId.parse('router'), role: 'agent' as const };
      return routeTask(queue, by, state.taskId, queue.directory.agent(chosen)!);
    },
  });
  token = await mesh.tokenOf('alvis');
  router = mesh.urlOf('router');
  mesh.runs.set('adolf', shout);
  mesh.runs.set('helper', shout);
});
afterAll(() => mesh.close());

const auto = { target: 'auto', constraints: { tier: 'large' }, verification: 'none' };

describe('the router', () => {
  it('answers with the task of whom it has chosen, in one call', async () => {
    const sent = { message: message('anybody', {}, auto) };
    const task = taskOf(await rpc(router, 'SendMessage', sent, { token }));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.metadata).toMatchObject({ agentId: 'adolf' });
    const direct = await rpc(mesh.urlOf('adolf'), 'GetTask', { id: task.id }, { token });
    expect(taskOf(direct).id).toBe(task.id);
    expect(taskOf(await rpc(router, 'GetTask', { id: task.id }, { token })).id).toBe(task.id);
    expect(
      errorOf(await rpc(mesh.urlOf('helper'), 'GetTask', { id: task.id }, { token })).code,
    ).toBe(-32001);
  });

  it('follows its first choice when the same is sent again', async () => {
    const sent = { message: message('again', {}, auto) };
    const first = taskOf(await rpc(router, 'SendMessage', sent, { token }));
    chosen = 'helper';
    const second = taskOf(await rpc(router, 'SendMessage', sent, { token }));
    chosen = 'adolf';
    expect(second.id).toBe(first.id);
    expect(second.metadata).toMatchObject({ agentId: 'adolf' });
  });

  it('sends a pinned task on without any choice, and streams it', async () => {
    const params = { message: message('pinned', {}, { target: 'helper', verification: 'none' }) };
    const events: StreamEvent[] = [];
    for await (const event of stream(router, 'SendStreamingMessage', params, { token })) {
      events.push(event);
    }
    expect(textsOf(events)).toEqual(['PINNED']);
    expect(events.at(-1)?.result.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('keeps what nobody can take, and says so at once', async () => {
    chosen = undefined;
    const task = taskOf(
      await rpc(router, 'SendMessage', { message: message('nobody', {}, auto) }, { token }),
    );
    chosen = 'adolf';
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(task.metadata?.['waits']).toMatch(/router/);
  });

  it('asks a person to rate what it can’t place otherwise', async () => {
    const bare = { message: message('how large?') };
    const task = taskOf(await rpc(router, 'SendMessage', bare, { token }));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(task.metadata).toMatchObject({ ask: 'rating' });
  });

  it('refuses an agent that is not there', async () => {
    const lost = { message: message('lost', {}, { target: 'no-such-agent' }) };
    expect(errorOf(await rpc(router, 'SendMessage', lost, { token })).code).toBe(50301);
  });
});
