import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import {
  errorOf,
  message,
  rpc,
  stream,
  taskOf,
  textsOf,
  until,
  WireTask,
  type StreamEvent,
} from '../support/edge-calls.ts';
import { answered, ledRun, shout } from '../support/edge-runs.ts';

let mesh: EdgeMesh;
let token: string;
let url: string;
beforeAll(async () => {
  mesh = await edgeMesh();
  token = await mesh.tokenOf('alvis');
  url = mesh.urlOf('adolf');
});
afterAll(() => mesh.close());

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const seen: StreamEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const open = (text: string, extension?: object) =>
  stream(url, 'SendStreamingMessage', { message: message(text, {}, extension) }, { token });
const subscribe = (id: string, headers = {}) =>
  stream(url, 'SubscribeToTask', { id }, { token, headers });
const firstTask = (event: StreamEvent | undefined) => WireTask.parse(event?.result.task);
const lastState = (events: readonly StreamEvent[]) =>
  events.at(-1)?.result.statusUpdate?.status.state;

describe('a stream', () => {
  it('gives the Task first, pieces as they come, the whole artifact, and the end', async () => {
    mesh.runs.set('adolf', async (run) => {
      run.chunk('one ');
      run.chunk('two');
      return answered(run, 'one two');
    });
    const events = await all(open('count'));
    expect(firstTask(events[0]).status.state).toMatch(/SUBMITTED|WORKING/);
    expect(textsOf(events)).toEqual(['one ', 'two', 'one two']);
    expect(events.map(({ result }) => result.artifactUpdate?.append ?? false)).toContain(true);
    expect(lastState(events)).toBe('TASK_STATE_COMPLETED');
    const sequences = events.map(({ id }) => Number(id?.split('.').at(-1)));
    expect(sequences).toEqual(sequences.map((_, at) => (sequences[0] ?? 0) + at));
  });

  it('ends with its caller only: the task goes on (H1)', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const gone = new AbortController();
    const events = stream(
      url,
      'SendStreamingMessage',
      { message: message('drop') },
      { token, signal: gone.signal },
    );
    const { id } = firstTask((await events.next()).value ?? undefined);
    gone.abort();
    await events.next().catch(() => undefined);
    (await run.begun).chunk('nobody hears this');
    run.finish(await answered(await run.begun, 'twelve of twelve'));
    const done = await until(
      async () => taskOf(await rpc(url, 'GetTask', { id }, { token })),
      ({ status }) => status.state === 'TASK_STATE_COMPLETED',
    );
    expect(done.artifacts?.[0]?.parts[0]?.text).toBe('twelve of twelve');
  });

  it('is the same for all who follow, in the same order', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const first = open('many');
    const { id } = firstTask((await first.next()).value ?? undefined);
    const { chunk } = await run.begun;
    const others = [subscribe(id), subscribe(id)];
    for (const other of others) firstTask((await other.next()).value ?? undefined);
    for (let piece = 0; piece < 50; piece++) chunk(`c${piece} `);
    run.finish(await answered(await run.begun, 'end'));
    const [one, two, three] = await Promise.all([first, ...others].map(all));
    expect(textsOf(two ?? [])).toEqual(textsOf(three ?? []));
    expect(textsOf(two ?? [])).toHaveLength(51);
    expect(one?.slice(-52)).toEqual(two);
  });

  it('gives a late subscriber the answer so far, and then only what is new', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const first = open('late');
    const { id } = firstTask((await first.next()).value ?? undefined);
    (await run.begun).chunk('so far, ');
    const late = subscribe(id);
    const snapshot = firstTask((await late.next()).value ?? undefined);
    expect(snapshot.artifacts?.[0]?.parts[0]?.text).toBe('so far, ');
    (await run.begun).chunk('and on');
    run.finish(await answered(await run.begun, 'so far, and on'));
    expect(textsOf(await all(late))).toEqual(['and on', 'so far, and on']);
    await all(first);
  });

  it('can be gone on with exactly after an event (Last-Event-ID, afterEvent)', async () => {
    mesh.runs.set('adolf', async (run) => {
      for (const piece of ['a', 'b', 'c', 'd']) run.chunk(piece);
      return answered(run, 'abcd');
    });
    const events = await all(open('resume'));
    const { id } = firstTask(events[0]);
    for (const [at, event] of events.entries()) {
      const rest = await all(subscribe(id, { 'Last-Event-ID': event.id ?? '' }));
      expect(rest).toEqual(events.slice(at + 1));
    }
    const params = { id, afterEvent: events[2]?.id };
    expect(await all(stream(url, 'SubscribeToTask', params, { token }))).toEqual(events.slice(3));
  });

  it('starts anew, and says so, after an event that nobody knows', async () => {
    mesh.runs.set('adolf', shout);
    const [first] = await all(open('lost'));
    const { id } = firstTask(first);
    const again = await all(subscribe(id, { 'Last-Event-ID': 'dead-process.17' }));
    expect(again).toHaveLength(1);
    expect(firstTask(again[0]).metadata).toMatchObject({ reset: true });
    expect(firstTask(again[0]).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is refused for a task that has ended, as one plain answer', async () => {
    mesh.runs.set('adolf', shout);
    const { id } = taskOf(await rpc(url, 'SendMessage', { message: message('over') }, { token }));
    const reply = await rpc(url, 'SubscribeToTask', { id }, { token });
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(errorOf(reply)).toMatchObject({ code: -32004 });
  });

  it('has an error before its first event as a plain answer', async () => {
    const reply = await rpc(url, 'SendStreamingMessage', { message: {} }, { token });
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(errorOf(reply).code).toBe(-32602);
  });

  it('ends where its caller is asked something', async () => {
    mesh.runs.set('adolf', async (run) => {
      if (run.state.decisions.length > 0) return answered(run, 'thanks');
      return {
        kind: 'asked',
        question: { text: 'Which?', options: [], to: 'submitter', kind: 'question' },
      };
    });
    const events = await all(open('ask'));
    expect(lastState(events)).toBe('TASK_STATE_INPUT_REQUIRED');
    const { id } = firstTask(events[0]);
    const follower = subscribe(id);
    expect(firstTask((await follower.next()).value ?? undefined).status.state).toBe(
      'TASK_STATE_INPUT_REQUIRED',
    );
    await rpc(url, 'SendMessage', { message: message('this', { taskId: id }) }, { token });
    expect(lastState(await all(follower))).toBe('TASK_STATE_COMPLETED');
  });

  it('ends at done for whoever may verify, and goes on to COMPLETED for all others', async () => {
    mesh.runs.set('adolf', shout);
    const watcher = await mesh.tokenOf('watcher', ['tasks:read', 'tasks:read-all']);
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const own = open('verify me', {});
    const { id } = firstTask((await own.next()).value ?? undefined);
    const other = stream(url, 'SubscribeToTask', { id }, { token: watcher });
    await other.next();
    run.finish(await answered(await run.begun, 'finished'));
    expect(lastState(await all(own))).toBe('TASK_STATE_INPUT_REQUIRED');
    await rpc(url, 'cardmesh/verify', { taskId: id, verdict: 'verified' }, { token });
    const seen = await all(other);
    expect(lastState(seen)).toBe('TASK_STATE_COMPLETED');
    expect(seen.map(({ result }) => result.statusUpdate?.status.state)).not.toContain(
      'TASK_STATE_INPUT_REQUIRED',
    );
  });

  it('shows the progress of a run, also of one that a worker does', async () => {
    mesh.runs.set('slow', async (run) => {
      run.progress('reading the plan');
      run.chunk('bit');
      return answered(run, 'bit by bit');
    });
    const params = { message: message('work') };
    const events = stream(mesh.urlOf('slow'), 'SendStreamingMessage', params, { token });
    const first = (await events.next()).value;
    expect(firstTask(first ?? undefined).status.state).toBe('TASK_STATE_SUBMITTED');
    mesh.work('slow');
    const rest = await all(events);
    expect(JSON.stringify(rest)).toContain('reading the plan');
    expect(textsOf(rest)).toEqual(['bit', 'bit by bit']);
    expect(lastState(rest)).toBe('TASK_STATE_COMPLETED');
  });

  it('cuts off a reader that is too slow, and nobody else', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const first = open('flood');
    const { id } = firstTask((await first.next()).value ?? undefined);
    const subscription = await mesh.actors.subscribe(id as never);
    const piece = 'x'.repeat(64 * 1024);
    const { chunk } = await run.begun;
    const reading = all(first);
    for (let n = 0; n < 40; n++) {
      chunk(piece);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await subscription.next()).toBeUndefined();
    run.finish(await answered(await run.begun, 'end'));
    expect(lastState(await reading)).toBe('TASK_STATE_COMPLETED');
  });

  it('speaks 0.3 with kinds, lower-case states and a final event', async () => {
    mesh.runs.set('adolf', shout);
    const params = {
      message: {
        kind: 'message',
        messageId: 'old-client-1',
        role: 'user',
        parts: [{ kind: 'text', text: 'hello' }],
      },
    };
    const events = await all(stream(url, 'message/stream', params, { token, version: '0.3' }));
    expect(events[0]?.result).toMatchObject({ kind: 'task' });
    expect(events.at(-1)?.result).toMatchObject({
      kind: 'status-update',
      final: true,
      status: { state: 'completed' },
    });
  });
});
