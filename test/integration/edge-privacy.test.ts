import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { errorOf, message, rpc, taskOf, until, type RpcReply } from '../support/edge-calls.ts';
import { answered, ledRun, shout } from '../support/edge-runs.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';

let mesh: EdgeMesh;
let alice: string;
let bob: string;
let url: string;
beforeAll(async () => {
  mesh = await edgeMesh();
  alice = await mesh.tokenOf('alice');
  bob = await mesh.tokenOf('bob');
  url = mesh.urlOf('adolf');
  mesh.runs.set('adolf', shout);
});
afterAll(() => mesh.close());

/** What a reply says, with the id that was asked for taken out. */
const shapeOf = ({ error, result, status }: RpcReply & { status: number }, id: string) =>
  JSON.parse(JSON.stringify({ error, result, status }).replaceAll(id, '<id>')) as unknown;

const unknownId = '0123456789abcdef0123456789abcdef';

describe('two people on one mesh', () => {
  it.each([
    ['GetTask', (id: string) => ({ id })],
    ['SubscribeToTask', (id: string) => ({ id })],
    ['CancelTask', (id: string) => ({ id })],
    ['SendMessage', (taskId: string) => ({ message: message('hi', { taskId }) })],
    ['SendStreamingMessage', (taskId: string) => ({ message: message('hi', { taskId }) })],
    ['cardmesh/why', (taskId: string) => ({ taskId })],
    ['cardmesh/verify', (taskId: string) => ({ taskId, verdict: 'verified' })],
    ['cardmesh/steer', (taskId: string) => ({ taskId, do: 'archive' })],
    [
      'cardmesh/answer',
      (taskId: string) => ({ taskId, decisionId: 'd-0123456789abcdef', value: 'yes' }),
    ],
  ])('%s answers for the other one’s task as for an unknown id', async (method, params) => {
    const own = taskOf(
      await rpc(url, 'SendMessage', { message: message('mine') }, { token: alice }),
    );
    const foreign = await rpc(url, method, params(own.id), { token: bob });
    const unknown = await rpc(url, method, params(unknownId), { token: bob });
    expect(errorOf(foreign)).toMatchObject({ code: -32001, reason: 'NOT_FOUND' });
    expect(shapeOf(foreign, own.id)).toEqual(shapeOf(unknown, unknownId));
  });

  it('lists to each only their own', async () => {
    const sent = taskOf(await rpc(url, 'SendMessage', { message: message('a') }, { token: alice }));
    const ids = async (token: string) =>
      (await rpc(url, 'ListTasks', {}, { token })).result as { tasks: { id: string }[] };
    expect((await ids(alice)).tasks.map(({ id }) => id)).toContain(sent.id);
    expect((await ids(bob)).tasks.map(({ id }) => id)).not.toContain(sent.id);
  });

  it('does not let one write into the other one’s context (H8)', async () => {
    const contextId = 'context-of-alice';
    const first = { message: message('mine', { contextId }) };
    expect(taskOf(await rpc(url, 'SendMessage', first, { token: alice })).contextId).toBe(
      contextId,
    );
    const reply = await rpc(
      url,
      'SendMessage',
      { message: message('mine too', { contextId }) },
      { token: bob },
    );
    expect(errorOf(reply)).toMatchObject({ code: -32602 });
    const list = await rpc(url, 'ListTasks', { contextId }, { token: bob });
    expect((list.result as { tasks: unknown[] }).tasks).toEqual([]);
  });

  it('gives artifacts only to whoever may see the task', async () => {
    const { id } = taskOf(
      await rpc(url, 'SendMessage', { message: message('x') }, { token: alice }),
    );
    const get = (token: string, task = id) =>
      fetch(`${url}artifacts/${task}/answer`, { headers: { Authorization: `Bearer ${token}` } });
    const own = await get(alice);
    expect(await own.text()).toBe('X');
    expect(own.headers.get('content-disposition')).toMatch(/^attachment/);
    const [foreign, unknown] = [await get(bob), await get(bob, unknownId)];
    expect(foreign.status).toBe(404);
    expect((await foreign.text()).replaceAll(id, '')).toBe(
      (await unknown.text()).replaceAll(unknownId, ''),
    );
  });

  it('gives large artifacts as text up to 256 KiB and as an address beyond', async () => {
    const sizes = [8 * 1024 + 1, 256 * 1024, 256 * 1024 + 1];
    mesh.runs.set('adolf', async (run) => {
      const artifacts = await Promise.all(
        sizes.map((size) => run.artifact(`s${size}`, 'text/plain', 'y'.repeat(size))),
      );
      return { kind: 'done', outcome: { summary: 'Three.', artifacts } };
    });
    const task = taskOf(
      await rpc(url, 'SendMessage', { message: message('big') }, { token: alice }),
    );
    mesh.runs.set('adolf', shout);
    const lengths = task.artifacts?.map(({ parts: [part] }) => part?.text?.length);
    expect(lengths).toEqual([sizes[0], sizes[1], undefined]);
    const address = task.artifacts?.[2]?.parts[0]?.url ?? '';
    const got = await fetch(address, { headers: { Authorization: `Bearer ${alice}` } });
    expect((await got.text()).length).toBe(sizes[2]);
  });
});

describe('a run’s own credential', () => {
  it('may submit children of its task and await them, nothing else', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    mesh.runs.set('helper', shout);
    const call = rpc(url, 'SendMessage', { message: message('lead') }, { token: alice });
    const { state, fence } = await run.begun;
    const bound = { taskId: state.taskId, fence };
    const helper = mesh.urlOf('helper');
    const token = await mesh.signed('adolf', 'helper', { run: bound });
    const child = taskOf(await rpc(helper, 'SendMessage', { message: message('part') }, { token }));
    expect(child.metadata).toMatchObject({ parent: state.taskId });
    expect(child.contextId).toBe(state.contextId);
    expect(taskOf(await rpc(helper, 'GetTask', { id: child.id }, { token })).id).toBe(child.id);

    const foreign = taskOf(
      await rpc(helper, 'SendMessage', { message: message('hers') }, { token: alice }),
    );
    expect(errorOf(await rpc(helper, 'GetTask', { id: foreign.id }, { token })).code).toBe(-32001);
    for (const method of ['ListTasks', 'CancelTask', 'cardmesh/why', 'cardmesh/verify']) {
      const params = { id: child.id, taskId: child.id, verdict: 'verified' };
      expect((await rpc(helper, method, params, { token })).status).toBe(403);
    }
    const stored = (await mesh.board.read(child.id as TaskId))?.state.task.provenance;
    expect(stored).toMatchObject({ interlocutor: 'alice', parent: state.taskId, depth: 1 });

    run.finish(await answered(await run.begun, 'led'));
    await call;
    const after = await until(
      () => rpc(helper, 'GetTask', { id: child.id }, { token }),
      ({ status }) => status === 401,
    );
    expect(after.error?.code).toBe(40101);
    mesh.runs.set('adolf', shout);
  });
});
