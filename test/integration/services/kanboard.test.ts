import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../support/seeded-random.ts';
import { fates, type Fate } from '../../support/services/fates.ts';
import {
  calling,
  startFaultyProxy,
  type FaultyProxy,
} from '../../support/services/faulty-proxy.ts';
import { kanboardCalls, type KanboardCalls } from '../../support/services/kanboard-calls.ts';
import { startKanboard, type RunningKanboard } from '../../support/services/kanboard.ts';
import { describeWith } from '../../support/services/service.ts';

/** A namespace that no project has: tags need none. */
const namespace = { project_id: 1_500_000_001 };

const createTag = (call: KanboardCalls, tag: string) =>
  call('createTag', { ...namespace, tag, color_id: 'mine' });

async function tags(call: KanboardCalls): Promise<readonly string[]> {
  const { body } = await call('getTagsByProject', namespace);
  const { result } = body as { result: { name: string }[] };
  return result.map(({ name }) => name).sort();
}

const databases = ['sqlite', 'postgres'] as const;

for (const database of databases) {
  describeWith('kanboard', `A real Kanboard on ${database}`, ({ version }) => {
    if (database === 'sqlite') testKanboard(database, version);
    else
      describeWith('postgres', 'with a cluster of its own', () => testKanboard(database, version));
  });
}

function testKanboard(database: 'sqlite' | 'postgres', version: string): void {
  let kanboard: RunningKanboard;
  let call: KanboardCalls;
  beforeAll(async () => {
    kanboard = await startKanboard({ database });
    call = kanboardCalls(kanboard.url, kanboard.token);
  });
  afterAll(() => kanboard.stop());

  it('answers its token with the installed version', async () => {
    const { status, body } = await call('getVersion');
    expect(status).toBe(200);
    expect(body).toMatchObject({ result: version.split('+')[0] });
  });

  it('refuses another token', async () => {
    const stranger = kanboardCalls(kanboard.url, 'not-the-token');
    expect(await stranger('getVersion')).toMatchObject({ status: 401 });
  });

  it('lets one of sixteen rivals create a tag', async () => {
    const rivals = Array.from({ length: 16 }, () => createTag(call, 'contested'));
    const replies = await Promise.all(rivals);
    const results = replies.map(({ body }) => (body as { result: unknown }).result);
    expect(results.filter((result) => result === false)).toHaveLength(15);
  });

  it('has every acknowledged tag after kill -9', async () => {
    const acknowledged: string[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; ; n++) {
        const tag = `w${writer}-${n}`;
        const reply = await createTag(call, tag).catch(() => undefined);
        if (reply === undefined) return;
        acknowledged.push(tag);
        if (acknowledged.length === 20) await kanboard.kill();
      }
    };
    await Promise.all([write(1), write(2), write(3)]);
    await expect(call('getVersion')).rejects.toThrow('fetch failed');
    await kanboard.restart();
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);
    expect(await tags(call)).toEqual(expect.arrayContaining(acknowledged));
  });

  it('hangs while it is paused, and answers when it goes on', async () => {
    kanboard.pause();
    await expect(kanboardCalls(kanboard.url, kanboard.token, 300)('getVersion')).rejects.toThrow(
      'timeout',
    );
    const answer = call('getVersion');
    kanboard.resume();
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('calls the webhook that it was told of', async () => {
    const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as { port: number };
    await kanboard.setWebhook({ url: `http://127.0.0.1:${port}/hook`, token: 'hook-token' });
    const called = once(receiver, 'request') as Promise<[{ url: string }]>;
    await call('createProject', { name: 'hooked' });
    await call('createTask', { title: 'seen', project_id: 1 });
    const [{ url }] = await called;
    expect(url).toBe('/hook?token=hook-token');
    await kanboard.setWebhook({ url: '', token: '' });
    receiver.close();
  });

  it('gives a user a personal token', async () => {
    await kanboard.setUser('admin', { token: 'personal' });
    const authorization = `Basic ${Buffer.from('admin:personal').toString('base64')}`;
    const body = '{"jsonrpc":"2.0","id":1,"method":"getMe"}';
    const reply = await fetch(kanboard.url, { method: 'POST', headers: { authorization }, body });
    expect(await reply.json()).toMatchObject({ result: { username: 'admin' } });
    await expect(kanboard.setUser('nobody', { token: 'x' })).rejects.toThrow('no user nobody');
  });

  if (database === 'postgres') {
    it('keeps what it acknowledges on disk', async () => {
      expect(await kanboard.psql?.('show fsync; show synchronous_commit')).toBe('on\non');
    });
  }

  describe('behind the faulty proxy', () => {
    let proxy: FaultyProxy;
    let through: KanboardCalls;
    beforeAll(async () => {
      proxy = await startFaultyProxy(kanboard.url);
      through = kanboardCalls(proxy.url, kanboard.token);
    });
    afterEach(() => {
      proxy.clear();
    });
    afterAll(() => proxy.stop());

    it('meets nothing unless it is ordered', async () => {
      expect(await createTag(through, 'plain')).toMatchObject({ status: 200 });
      expect(await tags(call)).toContain('plain');
    });

    const failing = 'fetch failed';
    it.each<[fate: Fate, executed: boolean, shown: string | object]>([
      [{ kind: 'reset' }, false, failing],
      [{ kind: 'answer-lost' }, true, failing],
      [{ kind: 'answer-cut' }, true, 'terminated'],
      [{ kind: 'delayed', afterMs: 50 }, true, { status: 200 }],
      [{ kind: 'empty-500', executed: false }, false, { status: 500, body: '' }],
      [{ kind: 'empty-500', executed: true }, true, { status: 500, body: '' }],
      [{ kind: 'html-page' }, false, { status: 502 }],
      [{ kind: 'unauthorized' }, false, { status: 401, body: { error: { code: 401 } } }],
      [{ kind: 'disk-full' }, false, { status: 200, body: { error: { code: 0 } } }],
      [{ kind: 'twice' }, true, { body: { result: expect.any(Number) as number } }],
      [{ kind: 'twice', answer: 'second' }, true, { body: { result: false } }],
    ])('does what %o says', async (fate, executed, shown) => {
      const tag = JSON.stringify(fate).replaceAll(/[^a-z0-9]+/g, '-');
      proxy.next(fate, calling('createTag'));
      // The order is for another method.
      expect(await through('getVersion')).toMatchObject({ status: 200 });
      const reply = createTag(through, tag);
      if (typeof shown === 'string') await expect(reply).rejects.toThrow(shown);
      else expect(await reply).toMatchObject(shown);
      await proxy.settled();
      expect((await tags(call)).includes(tag)).toBe(executed);
      expect(proxy.seen.at(-1)).toEqual({ methods: ['createTag'], fate: fate.kind });
    });

    it('executes a delayed request after its sender gave up', async () => {
      proxy.next({ kind: 'delayed', beforeMs: 300 });
      const hasty = kanboardCalls(proxy.url, kanboard.token, 100);
      await expect(createTag(hasty, 'late')).rejects.toThrow('timeout');
      expect(await tags(call)).not.toContain('late');
      await proxy.settled();
      expect(await tags(call)).toContain('late');
    });

    it('leaves a request hanging', async () => {
      proxy.next({ kind: 'hanging' });
      const hasty = kanboardCalls(proxy.url, kanboard.token, 100);
      await expect(createTag(hasty, 'hung')).rejects.toThrow('timeout');
      expect(await tags(call)).not.toContain('hung');
    });

    it('refuses connections, and takes them again', async () => {
      await proxy.refuse();
      await expect(through('getVersion')).rejects.toThrow(failing);
      const knock = connect(Number(new URL(proxy.url).port), '127.0.0.1');
      await expect(once(knock, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await proxy.accept();
      expect(await through('getVersion')).toMatchObject({ status: 200 });
    });

    it('draws the same fates for the same seed', async () => {
      proxy.drawFrom(fates(seededRandom(7)));
      const before = proxy.seen.length;
      for (let n = 0; n < 20; n++) await createTag(through, `drawn-${n}`).catch(() => undefined);
      await proxy.settled();
      const met = proxy.seen.slice(before).map(({ fate }) => fate);
      const draw = fates(seededRandom(7));
      expect(met).toEqual(Array.from({ length: 20 }, () => draw().kind));
      expect(new Set(met).size).toBeGreaterThan(3);
    });
  });
}
