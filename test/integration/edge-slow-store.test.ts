import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message, rpc, stream, taskOf, textsOf, until, WireTask } from '../support/edge-calls.ts';
import type { StreamEvent } from '../support/edge-calls.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { answered, ledRun, type LedRun } from '../support/edge-runs.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { slowStore, type SlowStore } from '../support/slow-store.ts';

/** What one write takes, as in the measurement of the SDK's own server (`reference/a2a.md` 2.2, H3). */
const writeMs = 50;

let clock: ManualClock;
let store: SlowStore;
let mesh: EdgeMesh;
let token: string;
beforeEach(async () => {
  clock = manualClock();
  mesh = await edgeMesh({
    clock,
    store: (inner) => (store = slowStore(inner, { clock, writeMs })),
  });
  token = await mesh.tokenOf('alvis');
});
afterEach(async () => {
  // Hung writes end, so that the close of the mesh is not what hangs.
  const over = new AbortController();
  const closed = mesh.close().finally(() => {
    over.abort();
  });
  while (!over.signal.aborted) await clock.advance(writeMs);
  await closed;
});

/** Lets the writes end that are under way now, once there is the one that is waited for. */
async function written(what: string): Promise<void> {
  await until(
    () => Promise.resolve(store.underWay()),
    (waiting) => waiting.some((one) => one.startsWith(what)),
  );
  await clock.advance(writeMs);
}

interface Opened {
  readonly id: string;
  readonly run: LedRun;
  readonly events: AsyncGenerator<StreamEvent, void, undefined>;
}

/** A stream whose Task has come and whose run has begun. */
async function opened(text: string): Promise<Opened> {
  const run = ledRun();
  mesh.runs.set('adolf', run.runTask);
  const params = { message: message(text) };
  const events = stream(mesh.urlOf('adolf'), 'SendStreamingMessage', params, { token });
  const first = events.next();
  await written('board submitted');
  await written('board claimed');
  await run.begun;
  const { id } = WireTask.parse((await first).value?.result.task);
  return { id, run, events };
}

async function take(events: Opened['events'], count: number): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = [];
  while (taken.length < count) {
    const { value } = await events.next();
    if (!value) throw new Error(`The stream ended after ${taken.length} of ${count} events.`);
    taken.push(value);
  }
  return taken;
}

const pieces = (count: number, of = 'piece') =>
  Array.from({ length: count }, (_, n) => `${of}${n} `);
const isStill = async (promise: Promise<unknown>): Promise<boolean> => {
  let isOver = false;
  void promise.finally(() => (isOver = true));
  // A whole call there and back: whatever was on its way has come by then.
  await fetch(`${mesh.urlOf('adolf')}.well-known/agent-card.json`);
  return !isOver;
};

describe('a stream on a slow store (H3)', () => {
  it('names its task only once that is on record', async () => {
    mesh.runs.set('adolf', (run) => answered(run, 'done'));
    const params = { message: message('first') };
    const events = stream(mesh.urlOf('adolf'), 'SendStreamingMessage', params, { token });
    const first = events.next();
    await until(
      () => Promise.resolve(store.underWay()),
      (waiting) => waiting.includes('board submitted'),
    );
    expect(await isStill(first)).toBe(true);
    await written('board submitted');
    await written('board claimed');
    expect((await first).value?.result.task).toBeDefined();
    await events.return();
  });

  it('hands out pieces and progress while no write ends', async () => {
    const { run, events } = await opened('pieces');
    const beganMs = clock.monotonicMs();
    const { chunk, progress } = await run.begun;
    const sent = pieces(40);
    progress('reading');
    for (const piece of sent) chunk(piece);
    const seen = await take(events, 1 + 1 + sent.length);
    expect(textsOf(seen)).toEqual(sent);
    expect(JSON.stringify(seen)).toContain('reading');
    expect(clock.monotonicMs()).toBe(beganMs);
    expect(store.underWay().length).toBeGreaterThanOrEqual(sent.length);
    await events.return();
  });

  it('holds its end back until that is on record, and lets everybody read the task meanwhile', async () => {
    const { id, run, events } = await opened('end');
    run.finish(await answered(await run.begun, 'the end'));
    await written('board settled');
    const artifact = await take(events, 2);
    expect(textsOf(artifact)).toEqual(['the end']);
    const end = events.next();
    await until(
      () => Promise.resolve(store.underWay()),
      (waiting) => waiting.includes('journal state committed'),
    );
    expect(await isStill(end)).toBe(true);
    const read = taskOf(await rpc(mesh.urlOf('adolf'), 'GetTask', { id }, { token }));
    expect(read.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await isStill(end)).toBe(true);
    await written('journal state committed');
    expect((await end).value?.result.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('does not wait for the end of another', async () => {
    const one = await opened('one');
    const other = await opened('other');
    one.run.finish(await answered(await one.run.begun, 'over'));
    await written('board settled');
    await until(
      () => Promise.resolve(store.underWay()),
      (waiting) => waiting.includes('journal state committed'),
    );
    const beganMs = clock.monotonicMs();
    const { chunk } = await other.run.begun;
    for (const piece of pieces(10)) chunk(piece);
    expect(textsOf(await take(other.events, 11))).toEqual(pieces(10));
    expect(clock.monotonicMs()).toBe(beganMs);
    await one.events.return();
    await other.events.return();
  });

  it('takes the same four writes in a row however long the answer is', async () => {
    for (const count of [1, 100]) {
      const beganMs = clock.monotonicMs();
      const before = store.asked.length;
      const { run, events } = await opened(`count ${count}`);
      const { chunk } = await run.begun;
      for (const piece of pieces(count)) chunk(piece);
      await take(events, count + 1);
      run.finish(await answered(await run.begun, 'all'));
      await written('board settled');
      await take(events, 1);
      const end = events.next();
      await written('journal state committed');
      await end;
      expect(clock.monotonicMs() - beganMs).toBe(4 * writeMs);
      const waitedFor = store.asked.slice(before).filter((what) => !what.endsWith('buffered'));
      expect(waitedFor).toEqual([
        'board submitted',
        'board claimed',
        'board settled',
        'journal state committed',
      ]);
    }
  });
});
