import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message, rpc, taskOf, until } from '../support/edge-calls.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { shout } from '../support/edge-runs.ts';
import { heldFlush, type HeldFlush } from '../support/held-flush.ts';

let disk: HeldFlush;
let mesh: EdgeMesh;
let token: string;
let id: string;
beforeEach(async () => {
  mesh = await edgeMesh({
    store: (inner) => {
      disk = heldFlush(inner);
      return { board: disk.board, journal: inner.journal };
    },
  });
  mesh.runs.set('adolf', shout);
  token = await mesh.tokenOf('alvis');
  const sent = { message: message('hello') };
  id = taskOf(await rpc(mesh.urlOf('adolf'), 'SendMessage', sent, { token })).id;
  disk.hold();
});
afterEach(async () => {
  disk.release();
  await mesh.close();
});

const call = (method: string, params: object) =>
  rpc(mesh.urlOf('adolf'), method, params, { token });

/** What is read may not be on disk yet; whoever has heard "completed" must never see it undone by a crash. */
describe('an answer about a task', () => {
  const asks: Record<string, () => Promise<unknown>> = {
    GetTask: () => call('GetTask', { id }),
    ListTasks: () => call('ListTasks', {}),
    CancelTask: () => call('CancelTask', { id }),
    'cardmesh/why': () => call('cardmesh/why', { taskId: id }),
    SubscribeToTask: () => call('SubscribeToTask', { id }),
  };

  it.each(Object.keys(asks))('%s waits until what it says is durable', async (name) => {
    let isAnswered = false;
    const answer = asks[name]!().finally(() => (isAnswered = true));
    await until(
      () => Promise.resolve(disk.waiting()),
      (waiting) => waiting > 0,
    );
    expect(isAnswered).toBe(false);
    disk.release();
    expect(await answer).toBeDefined();
  });
});
