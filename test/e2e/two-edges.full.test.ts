import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { message, rpc, stream, taskOf, textsOf, WireTask } from '../support/edge-calls.ts';
import type { StreamEvent } from '../support/edge-calls.ts';
import { meshHome, otherHost, type MeshHome } from '../support/mesh-home.ts';
import { eventually, startDaemon, startMesh } from '../support/mesh-process.ts';
import type { Daemon, MeshProcess } from '../support/mesh-process.ts';
import { taskEvents, taskState } from '../support/mesh-tasks.ts';

const leaseMs = 9_000;
const answer = '[rehearsal] Done at last.';

let home: MeshHome;
let mesh: MeshProcess;
let elsewhere: string;
let other: Daemon;
/** The persona's two addresses, each with a token of the same person. */
let here: { readonly url: string; readonly token: string };
let there: { readonly url: string; readonly token: string };

beforeAll(async () => {
  home = await meshHome();
  await home.addCard('plodder', {
    queue: { concurrency: 2, lease: `${leaseMs / 1_000}s` },
    rehearsal: { script: [{ answer: 'Done at last.', delay: '3s' }] },
  });
  home.commit();
  elsewhere = otherHost(home.dir);
  mesh = await startMesh({ home: home.dir });
  other = startDaemon({ home: elsewhere }, [
    ...['serve', 'plodder', '--port', '0', '--json'],
    ...['--board', `mesh:${mesh.url}`, '--token', mesh.token],
  ]);
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(await other.readyLine));
  const token = readFileSync(join(elsewhere, 'state/operator.token'), 'utf8').trim();
  here = { url: `${mesh.url}/agents/plodder/`, token: mesh.token };
  there = { url: `${url}/`, token };
}, 60_000);
afterAll(async () => {
  await other.stop('SIGKILL');
  await mesh.stop('SIGKILL');
  home.remove();
});

const send = ({ url, token }: typeof here, sent: object) =>
  rpc(url, 'SendMessage', { message: sent }, { token });
const follow = ({ url, token }: typeof here, id: string, headers = {}) =>
  stream(url, 'SubscribeToTask', { id }, { token, headers });
const startsOf = async (id: string) =>
  (await taskEvents(mesh, id)).flatMap((event) => {
    if (event.kind === 'started') return [event.attempt];
    return event.kind === 'claimed' && event.attempt !== undefined ? [event.attempt] : [];
  });
const lastState = (events: readonly StreamEvent[]) =>
  events.at(-1)?.result.statusUpdate?.status.state;

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const seen: StreamEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

/** A stream at the other address, whose run has begun there. */
async function begunThere(text: string) {
  const params = { message: message(text) };
  const events = stream(there.url, 'SendStreamingMessage', params, { token: there.token });
  const first = await events.next();
  const { id } = WireTask.parse(first.value?.result.task);
  await eventually(
    async () => (await taskState(mesh, id)).claim?.started,
    (started) => started === true,
  );
  return { id, events, eventId: first.value?.id ?? '' };
}

describe('a persona at two addresses', { timeout: 90_000 }, () => {
  it('runs once what comes to both at the same time, and answers at both', async () => {
    const runOnce = async (text: string) => {
      const sent = message(text);
      const tasks = (await Promise.all([send(here, sent), send(there, sent)])).map(taskOf);
      expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
      for (const { status, artifacts } of tasks) {
        expect(status.state).toBe('TASK_STATE_COMPLETED');
        expect(artifacts?.[0]?.parts[0]?.text).toBe(answer);
      }
      expect(await startsOf(tasks[0]?.id ?? '')).toEqual([1]);
    };
    // As many as each process has places for.
    await Promise.all(['one', 'two'].map(runOnce));
  });

  it('streams its pieces where it runs, and the whole answer at the other one', async () => {
    const { id, events, eventId } = await begunThere('follow');
    const [own, others] = await Promise.all([all(events), all(follow(here, id))]);
    expect(textsOf(own)).toEqual(['[rehearsal] ', 'Done ', 'at ', 'last.', answer]);
    expect(textsOf(others)).toEqual([answer]);
    expect([lastState(own), lastState(others)]).toEqual(Array(2).fill('TASK_STATE_COMPLETED'));
    const [again] = await all(follow(here, id, { 'Last-Event-ID': eventId }));
    expect(WireTask.parse(again?.result.task)).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      metadata: { reset: true },
    });
  });

  it('goes on at the one when the other is killed in the middle of a run', async () => {
    const { id, events, eventId } = await begunThere('take over');
    const { claim: lost } = await taskState(mesh, id);
    const watching = all(follow(here, id, { 'Last-Event-ID': eventId }));
    const killedMs = performance.now();
    await other.stop('SIGKILL');
    await events.next().catch(() => undefined);
    const { claim: next } = await eventually(
      () => taskState(mesh, id),
      ({ claim }) => claim !== undefined && claim.fence !== lost?.fence,
      2 * leaseMs + 5_000,
    );
    const takenMs = Math.round(performance.now() - killedMs);
    process.stdout.write(`figure: other edge killed to run taken over ${takenMs} ms\n`);
    expect(takenMs).toBeLessThan(2 * leaseMs);
    expect(next?.fence).toBeGreaterThan(lost?.fence ?? 0);
    const seen = await watching;
    expect(lastState(seen)).toBe('TASK_STATE_COMPLETED');
    expect(textsOf(seen).at(-1)).toBe(answer);
    expect(await startsOf(id)).toEqual([1, 2]);
  });
});
