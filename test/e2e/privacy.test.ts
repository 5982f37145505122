import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { message, rpc, taskOf, type WireTask } from '../support/edge-calls.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import {
  eventually,
  mesh as runMesh,
  startMesh,
  type MeshProcess,
} from '../support/mesh-process.ts';
import { board, findTasks, submit } from '../support/mesh-tasks.ts';

interface Person {
  readonly url: string;
  readonly token: string;
}

let home: MeshHome;
let mesh: MeshProcess;
let maria: Person;
let jonas: Person;
/** Maria's: one done with a large result, one that asks her. */
let secret: WireTask;
let asking: string;

const human = {
  runtime: 'human',
  trust: 'human',
  effects: 'external',
  rehearsal: undefined,
  queue: { asyncOnly: true },
};
const nobodys = '0123456789abcdef0123456789abcdef';
const treasure = 'the treasure lies under the old oak';

beforeAll(async () => {
  home = await meshHome();
  for (const id of ['maria', 'jonas']) await home.addCard(id, human);
  const long = 'Much to say. '.repeat(300);
  for (const [id, next] of [
    ['teller', 'second'],
    ['second', 'third'],
    ['third', undefined],
  ] as const) {
    const line = { answer: long, ...(next ? { submit: { agent: next, text: 'go on' } } : {}) };
    await home.addCard(id, {
      mayCall: next ? [next] : [],
      rehearsal: { script: [{ when: 'ask me', ask: 'Where to dig?' }, line] },
    });
  }
  home.commit();
  mesh = await startMesh({ home: home.dir });
  const person = async (id: string): Promise<Person> => {
    const made = await mesh.mesh('token', 'create', '--principal', id);
    return { url: mesh.url, token: made.stdout.trim() };
  };
  [maria, jonas] = [await person('maria'), await person('jonas')];
  secret = taskOf(await call(maria, 'SendMessage', { message: message(treasure) }));
  asking = await submit(maria, 'teller', `ask me; ${treasure}`);
  await eventually(
    () => findTasks(maria, { phases: ['input-required'] }),
    (states) => states.length === 1,
  );
}, 90_000);
afterAll(async () => {
  await mesh.stop('SIGKILL');
  home.remove();
});

const call = ({ url, token }: Person, method: string, params: object, version = '1.0') =>
  rpc(`${url}/agents/teller/`, method, params, { token, version });

/** What came back, with the id taken out, so that two answers can be compared word by word. */
const without = (id: string, said: unknown): string =>
  JSON.stringify(said).replaceAll(id, 'ID').replaceAll(id.slice(0, 8), 'ID');

describe('what one person does with a persona', { timeout: 60_000 }, () => {
  it('is there for that person', async () => {
    const got = taskOf(await call(maria, 'GetTask', { id: secret.id }));
    expect(JSON.stringify(got.history)).toContain(treasure);
    const url = `${mesh.url}/agents/teller/artifacts/${secret.id}/answer`;
    const large = await fetch(url, { headers: { authorization: `Bearer ${maria.token}` } });
    expect([large.status, (await large.text()).length > 8 * 1024]).toEqual([200, true]);
  });

  it.each<[string, (id: string) => object, string?]>([
    ['GetTask', (id) => ({ id })],
    ['CancelTask', (id) => ({ id })],
    ['SubscribeToTask', (id) => ({ id })],
    ['SendMessage', (taskId) => ({ message: message('and where?', { taskId, messageId: 'm-1' }) })],
    ['cardmesh/why', (taskId) => ({ taskId })],
    ['cardmesh/answer', (taskId) => ({ taskId, decisionId: 'd-0123456789abcdef', value: 'here' })],
    ['cardmesh/verify', (taskId) => ({ taskId, verdict: 'verified' })],
    ['cardmesh/steer', (taskId) => ({ taskId, do: 'pause' })],
    ['tasks/get', (id) => ({ id }), '0.3'],
    ['tasks/cancel', (id) => ({ id }), '0.3'],
    ['tasks/resubscribe', (id) => ({ id }), '0.3'],
  ])('is unknown to another by %s', async (method, params, version) => {
    const unknown = await call(jonas, method, params(nobodys), version);
    expect(unknown.error).toBeDefined();
    for (const id of [secret.id, asking]) {
      const answer = await call(jonas, method, params(id), version);
      expect(without(id, [answer.status, answer.error])).toBe(
        without(nobodys, [unknown.status, unknown.error]),
      );
    }
  });

  it('is unknown to another as a parent or under its messageId', async () => {
    const child = (parent: string) =>
      call(jonas, 'SendMessage', { message: message('mine', { messageId: 'm-2' }, { parent }) });
    const [his, unknown] = [await child(secret.id), await child(nobodys)];
    expect(unknown.error).toBeDefined();
    expect(without(secret.id, his.error)).toBe(without(nobodys, unknown.error));
    const { messageId } = secret.history?.[0] ?? { messageId: '' };
    const same = message('my own words', { messageId });
    const own = taskOf(
      await call(jonas, 'SendMessage', {
        message: same,
        configuration: { returnImmediately: true },
      }),
    );
    expect(own.id).not.toBe(secret.id);
  });

  it('is in no list, search or stream of another', async () => {
    const listed = await call(jonas, 'ListTasks', { contextId: secret.contextId });
    expect(listed.result).toMatchObject({ tasks: [], totalSize: 0 });
    const all = JSON.stringify((await call(jonas, 'ListTasks', {})).result);
    expect(all).not.toContain(secret.id);
    expect(all).not.toContain('treasure');

    for (const query of [
      {},
      { principal: 'maria' },
      { agentId: 'teller' },
      { contextId: secret.id },
    ]) {
      const found = await findTasks(jonas, query);
      expect(found.filter(({ task }) => task.provenance.interlocutor !== 'jonas')).toEqual([]);
    }
    expect(await board(jonas, { op: 'read', uid: secret.id })).toBeNull();
    for (const taskRef of [secret.id, `task:${secret.id}`, secret.id.slice(0, 8)]) {
      expect(await board(jonas, { op: 'resolve', taskRef })).toBeNull();
    }
    const listing = { op: 'list', queue: 'teller', nowMs: Date.now(), limit: 10 };
    await expect(board(jonas, listing)).rejects.toThrow(/tasks:work/);

    const seen = await changesUntilOwn();
    expect(seen.others).toEqual([]);
  });

  it('is in no inbox, page, artifact or terminal of another', async () => {
    const cookie = await openInbox(jonas);
    const page = (path: string) => fetch(`${mesh.url}${path}`, { headers: { cookie } });
    const inbox = await page('/inbox');
    expect(inbox.status).toBe(200);
    expect(await inbox.text()).not.toContain('treasure');
    const unknown = await page(`/inbox/tasks/${nobodys}`);
    const theirs = await page(`/inbox/tasks/${asking}`);
    expect([theirs.status, without(asking, await theirs.text())]).toEqual([
      unknown.status,
      without(nobodys, await unknown.text()),
    ]);

    const artifact = async (id: string) => {
      const url = `${mesh.url}/agents/teller/artifacts/${id}/answer`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${jonas.token}` } });
      return [answer.status, without(id, await answer.text())];
    };
    expect(await artifact(secret.id)).toEqual(await artifact(nobodys));

    const terminal = (...args: string[]) =>
      runMesh({ home: home.dir, env: { MESH_TOKEN: jonas.token } }, ...args);
    const tasks = await terminal('tasks', '--all', '--json');
    const { tasks: states } = z
      .object({ tasks: z.array(z.looseObject({ taskId: z.string() })) })
      .parse(JSON.parse(tasks.stdout));
    expect(states.map(({ taskId }) => taskId)).not.toContain(secret.id);
    expect(tasks.stdout).not.toContain('treasure');
    const shown = await terminal('show', secret.id);
    expect(shown.code).toBe(6);
    expect(shown.stdout + shown.stderr).not.toContain('treasure');
  });
});

/** What the board's stream tells Jonas while Maria works, up to a task of his own. */
async function changesUntilOwn() {
  const over = new AbortController();
  const stream = await fetch(`${mesh.url}/board/changes`, {
    headers: { authorization: `Bearer ${jonas.token}` },
    signal: over.signal,
  });
  await call(maria, 'SendMessage', { message: message('more of my treasure') });
  const own = await submit(jonas, 'third', 'my own');
  let said = '';
  for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
    said += piece;
    if (said.includes(own)) break;
  }
  over.abort();
  const ids = said.split('\n').filter((line) => line !== '');
  const visible = new Set((await findTasks(jonas, {})).map(({ taskId }) => taskId as string));
  return { others: ids.filter((id) => !visible.has(id)) };
}

/** A session as the browser gets it: a link, its button, a cookie. */
async function openInbox({ url, token }: Person): Promise<string> {
  const made = await fetch(`${url}/inbox/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const link = z.object({ url: z.url() }).parse(await made.json());
  const opened = await fetch(`${url}/inbox/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: new URL(link.url).searchParams.get('key') ?? '' }),
  });
  return opened.headers.get('set-cookie')?.split(';')[0] ?? '';
}
