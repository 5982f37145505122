import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TaskId } from '../../fabric/domain/ids.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { errorOf, message, rpc, taskOf, until } from '../support/edge-calls.ts';
import { answered, ledRun, shout } from '../support/edge-runs.ts';

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
const get = (id: string, historyLength?: number) =>
  rpc(url, 'GetTask', { id, ...(historyLength === undefined ? {} : { historyLength }) }, { token });

describe('a message to a persona', () => {
  it('is answered in the same call, and the task can be read again', async () => {
    mesh.runs.set('adolf', shout);
    const task = taskOf(await send({ message: message('hello') }));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts[0]?.text).toBe('HELLO');
    expect(task.metadata).toMatchObject({ phase: 'done', verification: 'unverified' });
    expect(taskOf(await get(task.id))).toEqual(task);
  });

  it.each([
    ['as its Card says', {}, 'reviewer'],
    ['as its submitter says', { verification: 'human' }, 'human'],
    ['by nobody, of a foreign client', undefined, 'none'],
  ])('is verified %s', async (_name, extension, policy) => {
    mesh.runs.set('coder', shout);
    const params = { message: message('hello', {}, extension) };
    const { id } = taskOf(await rpc(mesh.urlOf('coder'), 'SendMessage', params, { token }));
    expect((await mesh.board.read(TaskId.parse(id)))?.state.task.verification).toBe(policy);
  });

  it('names the same task when it comes again, and refuses another content under its id', async () => {
    mesh.runs.set('adolf', shout);
    const first = message('once');
    const task = taskOf(await send({ message: first }));
    expect(taskOf(await send({ message: first })).id).toBe(task.id);
    const other = await send({ message: { ...first, parts: [{ text: 'twice' }] } });
    expect(errorOf(other)).toEqual({
      code: -32602,
      reason: 'VALIDATION_ERROR',
      domain: 'cardmesh',
    });
  });

  it('runs once though it is sent twice at once', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const same = message('same');
    const both = [send({ message: same }), send({ message: same })];
    run.finish(await answered(await run.begun, 'one'));
    const tasks = (await Promise.all(both)).map(taskOf);
    expect(tasks[0]?.id).toBe(tasks[1]?.id);
    expect(run.starts()).toBe(1);
  });

  it('goes on when its caller hangs up (H1)', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const gone = new AbortController();
    const call = send({ message: message('leave') }, { signal: gone.signal });
    const { state } = await run.begun;
    gone.abort();
    await expect(call).rejects.toThrow();
    expect(run.wasTold()).toBe(false);
    run.finish(await answered(await run.begun, 'still here'));
    const seen = await until(
      async () => taskOf(await get(state.taskId)),
      (task) => task.status.state === 'TASK_STATE_COMPLETED',
    );
    expect(seen.artifacts?.[0]?.parts[0]?.text).toBe('still here');
  });

  it('is only noted when the task is at work, and starts no second run (H2)', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const call = send({ message: message('work') });
    const { taskId } = (await run.begun).state;
    const note = message('and mind the gap', { taskId });
    const during = taskOf(await send({ message: note }));
    expect(during.status.state).toBe('TASK_STATE_WORKING');
    expect(during.history?.map(({ messageId }) => messageId)).toContain(note.messageId);
    run.finish(await answered(await run.begun, 'done'));
    expect(taskOf(await call).status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.starts()).toBe(1);
  });

  it('is refused once the task has ended', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await send({ message: message('end') }));
    const late = await send({ message: message('one more', { taskId: id }) });
    expect(errorOf(late)).toMatchObject({ code: -32004, domain: 'a2a-protocol.org' });
  });

  it('never makes a task of an unknown taskId', async () => {
    const before = await mesh.board.find({ limit: 1 });
    const reply = await send({ message: message('who', { taskId: 'f'.repeat(32) }) });
    expect(errorOf(reply)).toMatchObject({ code: -32001, reason: 'NOT_FOUND' });
    expect((await mesh.board.find({ limit: 1 })).total).toBe(before.total);
  });

  it('keeps its context, and another one with the taskId is refused', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const call = send({ message: message('mine', { contextId: 'my-context' }) });
    const { taskId } = (await run.begun).state;
    const reply = await send({ message: message('x', { taskId, contextId: 'other' }) });
    expect(errorOf(reply).code).toBe(-32602);
    run.finish(await answered(await run.begun, 'done'));
    expect(taskOf(await call).contextId).toBe('my-context');
  });

  it('comes back at once with returnImmediately, after it is durable', async () => {
    mesh.runs.delete('slow');
    const configuration = { returnImmediately: true };
    const reply = await rpc(
      mesh.urlOf('slow'),
      'SendMessage',
      { message: message('later'), configuration },
      { token },
    );
    const task = taskOf(reply);
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(task.metadata?.['waits']).toMatch(/ready/);
    mesh.runs.set('slow', shout);
    mesh.work('slow');
    const seen = await until(
      async () => taskOf(await rpc(mesh.urlOf('slow'), 'GetTask', { id: task.id }, { token })),
      ({ status }) => status.state === 'TASK_STATE_COMPLETED',
    );
    expect(seen.artifacts?.[0]?.parts[0]?.text).toBe('LATER');
  });

  it('waits for the worker where the persona is async only', async () => {
    mesh.runs.set('slow', shout);
    mesh.work('slow');
    const reply = await rpc(
      mesh.urlOf('slow'),
      'SendMessage',
      { message: message('patience') },
      { token },
    );
    expect(taskOf(reply).artifacts?.[0]?.parts[0]?.text).toBe('PATIENCE');
  });

  it('parks at once while the persona is away, with reason and instant', async () => {
    const untilMs = Date.UTC(2030, 0, 1);
    mesh.away.set('adolf', { a: 0, reasons: ['60 of 60 requests used in 5 h'], untilMs });
    const task = taskOf(await send({ message: message('park') }));
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    expect(task.metadata).toMatchObject({
      reason: '60 of 60 requests used in 5 h',
      until: '2030-01-01T00:00:00.000Z',
    });
    const before = (await mesh.board.find({ limit: 1 })).total;
    const rejected = await send({ message: message('no', {}, { onUnavailable: 'reject' }) });
    mesh.away.delete('adolf');
    expect(errorOf(rejected)).toMatchObject({ code: 50301, reason: 'NO_TARGET' });
    expect(JSON.stringify(rejected.error?.data)).toContain('"retryAt":"2030-01-01T00:00:00.000Z"');
    expect((await mesh.board.find({ limit: 1 })).total).toBe(before);
  });

  it('waits for a free place when all are taken', async () => {
    const run = ledRun();
    mesh.runs.set('helper', run.runTask);
    const at = mesh.urlOf('helper');
    const first = rpc(at, 'SendMessage', { message: message('first') }, { token });
    const made = await answered(await run.begun, 'free');
    const second = rpc(at, 'SendMessage', { message: message('second') }, { token });
    mesh.work('helper');
    run.finish(made);
    expect(taskOf(await first).status.state).toBe('TASK_STATE_COMPLETED');
    expect(taskOf(await second).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('finds the place free that the answer before it was made in', async () => {
    mesh.runs.set('single', shout);
    const headers = {
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
      Authorization: `Bearer ${token}`,
    };
    for (let n = 0; n < 40; n++) {
      const params = { message: message(`turn ${n}`) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'SendMessage', params });
      const response = await mesh
        .serviceOf('single')
        .request('/', { method: 'POST', headers, body });
      expect(await response.text()).toContain('TASK_STATE_COMPLETED');
    }
  });

  it('keeps history within historyLength', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await send({ message: message('history') }));
    expect(taskOf(await get(id, 0)).history).toBeUndefined();
    expect(taskOf(await get(id, 1)).history).toHaveLength(1);
  });

  it('tells nothing of a fault but its id (H16)', async () => {
    mesh.runs.set('doer', () => Promise.reject(new Error('secret detail of ours')));
    const at = mesh.urlOf('doer');
    const task = taskOf(await rpc(at, 'SendMessage', { message: message('break') }, { token }));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(task.metadata).toMatchObject({ phase: 'needs-review', reason: 'uncertain' });
    expect(JSON.stringify(task)).not.toContain('secret detail');
  });
});

describe('a question of a persona', () => {
  it('interrupts, is answered by an ordinary message, and the task goes on', async () => {
    mesh.runs.set('adolf', async (run) => {
      const [decision] = run.state.decisions;
      if (decision) return answered(run, `You said ${decision.value}.`);
      const question = { text: 'Red or blue?', options: ['Red', 'Blue'] };
      return { kind: 'asked', question: { ...question, to: 'submitter', kind: 'question' } };
    });
    const asked = taskOf(await send({ message: message('paint') }));
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asked.status.message?.parts[0]?.text).toBe('Red or blue?');
    expect(asked.metadata).toMatchObject({ ask: 'question', options: ['Red', 'Blue'] });

    const wrong = await send({ message: message('green', { taskId: asked.id }) });
    expect(errorOf(wrong).code).toBe(-32602);
    const answer = message('blue', { taskId: asked.id });
    const done = taskOf(await send({ message: answer }));
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.artifacts?.[0]?.parts[0]?.text).toBe('You said Blue.');
  });

  it('is answered by method, exactly once', async () => {
    mesh.runs.set('adolf', async (run) => {
      const [decision] = run.state.decisions;
      if (decision) return answered(run, decision.value);
      return {
        kind: 'asked',
        question: { text: 'Why?', options: [], to: 'submitter', kind: 'question' },
      };
    });
    const asked = taskOf(await send({ message: message('ask me') }));
    const decisionId = asked.metadata?.['decisionId'];
    const params = { taskId: asked.id.slice(0, 10), decisionId, value: 'Because.' };
    const after = taskOf(await rpc(url, 'cardmesh/answer', params, { token }));
    expect(after.id).toBe(asked.id);
    const other = { ...params, value: 'For another reason.' };
    expect(errorOf(await rpc(url, 'cardmesh/answer', other, { token }))).toMatchObject({
      code: 40907,
      reason: 'STALE_DECISION',
    });
    mesh.runs.set('adolf', shout);
  });
});

describe('cancel', () => {
  it('ends a task that waits at once', async () => {
    mesh.away.set('adolf', { a: 0, reasons: ['away'] });
    const { id } = taskOf(await send({ message: message('stop it') }));
    mesh.away.delete('adolf');
    const canceled = taskOf(await rpc(url, 'CancelTask', { id }, { token }));
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    const again = taskOf(await rpc(url, 'CancelTask', { id }, { token }));
    expect(again.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('stops a run and answers when it has stopped', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const call = send({ message: message('long') });
    const { taskId } = (await run.begun).state;
    const canceled = taskOf(await rpc(url, 'CancelTask', { id: taskId }, { token }));
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect(run.wasTold()).toBe(true);
    expect(taskOf(await call).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('comes too late for an outcome', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await send({ message: message('too fast') }));
    expect(errorOf(await rpc(url, 'CancelTask', { id }, { token }))).toMatchObject({
      code: -32002,
      reason: 'TASK_NOT_CANCELABLE',
    });
  });
});
