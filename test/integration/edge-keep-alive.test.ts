import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import { message } from '../support/edge-calls.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { answered, ledRun, type LedRun } from '../support/edge-runs.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';
import { slowStore } from '../support/slow-store.ts';

const comment = ': keep-alive\n\n';

let clock: ManualClock;
let mesh: EdgeMesh;
let token: string;
let run: LedRun;
/** While true, no write to the store ends. */
let isStuck: boolean;
beforeEach(async () => {
  clock = manualClock();
  isStuck = false;
  mesh = await edgeMesh({
    clock,
    store: (inner) => {
      const stuck = slowStore(inner, { clock, writeMs: 1_000_000_000 });
      return {
        board: inner,
        journal: {
          ...stuck.journal,
          append: (...args) => (isStuck ? stuck.journal : inner.journal).append(...args),
        },
      };
    },
  });
  token = await mesh.tokenOf('alvis');
  run = ledRun();
  mesh.runs.set('adolf', run.runTask);
});
afterEach(() => mesh.close());

const request = (): RequestInit => ({
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'A2A-Version': '1.0',
    Authorization: `Bearer ${token}`,
  },
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 7, method: 'SendStreamingMessage' },
    params: { message: message('keep me') },
  }),
});

/** What comes, one block at a time; comments too. */
async function* blocks(response: Response): AsyncGenerator<string, void, undefined> {
  let buffered = '';
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    buffered += text;
    for (let end = buffered.indexOf('\n\n'); end >= 0; end = buffered.indexOf('\n\n')) {
      yield buffered.slice(0, end + 2);
      buffered = buffered.slice(end + 2);
    }
  }
  expect(buffered).toBe('');
}

/** Reads on to the block that holds `text`. */
async function readTo(
  text: string,
  from: AsyncGenerator<string, void, undefined>,
): Promise<string[]> {
  const read: string[] = [];
  for (;;) {
    const { value } = await from.next();
    if (value === undefined) throw new Error(`It ended before ${text}: ${read.join('')}`);
    read.push(value);
    if (read.at(-1)?.includes(text)) return read;
  }
}

describe('a silent stream (H14)', () => {
  it('says every 15 s that it lives, in bytes that are no event', async () => {
    const events = blocks(await fetch(mesh.urlOf('adolf'), request()));
    await readTo('TASK_STATE_WORKING', events);
    const { chunk } = await run.begun;
    for (let beat = 1; beat <= 3; beat++) {
      await clock.advance(limits.sseKeepAliveMs - 1);
      chunk(`before ${beat} `);
      // Nothing lies between: no comment came early.
      expect(await readTo(`before ${beat}`, events)).toHaveLength(1);
      await clock.advance(1);
      expect((await events.next()).value).toBe(comment);
    }
    run.finish(await answered(await run.begun, 'end'));
    await readTo('TASK_STATE_COMPLETED', events);
    expect(await events.next()).toEqual({ value: undefined, done: true });
  });

  it('lives on while its end waits for a store that does not answer', async () => {
    const events = blocks(await fetch(mesh.urlOf('adolf'), request()));
    await readTo('TASK_STATE_WORKING', events);
    isStuck = true;
    run.finish(await answered(await run.begun, 'end'));
    await readTo('artifactUpdate', events);
    await clock.advance(limits.sseKeepAliveMs);
    expect((await events.next()).value).toBe(comment);
    await clock.advance(limits.sseKeepAliveMs);
    expect((await events.next()).value).toBe(comment);
    await events.return();
  });

  it('heaps up no comments for a reader that takes none', async () => {
    const response = await mesh.serviceOf('adolf').request('/', request());
    const { chunk } = await run.begun;
    for (let beat = 0; beat < 20; beat++) await clock.advance(limits.sseKeepAliveMs);
    chunk('after a long time');
    run.finish(await answered(await run.begun, 'end'));
    const text = await response.text();
    expect(text.split(comment).length - 1).toBeLessThanOrEqual(1);
    expect(text).toContain('after a long time');
    expect(text).toContain('TASK_STATE_COMPLETED');
  });

  it('stops with the stream: a caller who left is not written to', async () => {
    const gone = new AbortController();
    const response = await mesh
      .serviceOf('adolf')
      .request('/', { ...request(), signal: gone.signal });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await clock.advance(10 * limits.sseKeepAliveMs);
    // The run is not the stream's: it goes on, and its end is on record.
    run.finish(await answered(await run.begun, 'end'));
    const { taskId } = (await run.begun).state;
    await expect.poll(async () => (await mesh.board.read(taskId))?.state.phase).toBe('done');
    expect(mesh.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
