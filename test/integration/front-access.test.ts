import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueRunToken } from '../../agents/auth/run-token.ts';
import { boardWebhook } from '../../agents/board-webhook.ts';
import type { MeshError } from '../../fabric/domain/errors.ts';
import type { Scope } from '../../fabric/domain/principal.ts';
import { composedMesh, frontUrl, type ComposedMesh } from '../support/composed-mesh.ts';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { eventually } from '../support/mesh-process.ts';

let home: MeshHome;
let composed: ComposedMesh;
beforeAll(async () => {
  home = await meshHome();
  composed = await composedMesh(home.dir);
  composed.mesh.start({ keeper: false });
});
afterAll(async () => {
  await composed.mesh.stop();
  home.remove();
});

describe('the credential of a run', () => {
  /** The credential of a run that is at work right now. */
  async function runToken(): Promise<string> {
    const taskId = await composed.submit('understudy', 'Work slowly.');
    const { claim } = await eventually(
      () => composed.stateOf(taskId),
      ({ phase }) => phase === 'working',
    );
    const { meshSecret } = composed.mesh.queue;
    const fence = claim?.fence ?? 0;
    const expiresAtMs = Date.now() + 60_000;
    return issueRunToken({ meshSecret, agentId: 'understudy', taskId, fence, expiresAtMs });
  }

  /** Served by personas, by the page's own session, to the board by a token of its own, or to everybody. */
  const elsewhere =
    /^\/($|\*|healthz$|whoami$|\.well-known|agents\/:|board\/webhook$|inbox(\/(?!links)|$))/;

  it('opens none of the front’s own routes', async () => {
    const token = await runToken();
    const own = composed.mesh.front.routes.filter(({ path }) => !elsewhere.test(path));
    expect(own.map(({ path }) => path.replace(/(?<=.)\/$/, ''))).toEqual(
      expect.arrayContaining(['/board', '/board/changes', '/metrics', '/agents', '/inbox/links']),
    );
    for (const { method, path } of own) {
      const refused = await composed.ask(path, { method }, token);
      expect([path, refused.status]).toEqual([path, 403]);
      expect(await refused.json()).toMatchObject({ code: 'TRUST_DENIED' });
    }
    const who = await composed.ask('/whoami', {}, token);
    expect(await who.json()).toMatchObject({ principal: 'understudy' });
  });
});

describe('the board’s webhook', () => {
  const hook = (app: Hono, query: string) =>
    app.request(`/board/webhook${query}`, { method: 'POST' });

  it('is not there for a board that has none, whatever is presented', async () => {
    for (const query of ['', '?token=', '?token=x']) {
      expect((await hook(composed.mesh.front, query)).status).toBe(404);
    }
    expect((await composed.ask('/board/webhook', { method: 'POST' })).status).toBe(404);
  });

  it('takes its own token alone, and answers before it tells', async () => {
    const heard: string[] = [];
    const onHint = () => void heard.push('hint');
    const app = new Hono();
    app.post('/board/webhook', boardWebhook({ token: 'right', onHint }));
    app.onError((error, c) => c.json({ code: (error as MeshError).code }, 401));
    for (const query of ['', '?token=', '?token=wrong', `?token=${composed.mesh.token}`]) {
      const refused = await hook(app, query);
      expect(await refused.json()).toEqual({ code: 'UNAUTHENTICATED' });
    }
    const answered = hook(app, '?token=right');
    void Promise.resolve(answered).then(() => heard.push('answer'));
    expect((await answered).status).toBe(204);
    await eventually(
      () => heard,
      () => heard.includes('hint'),
    );
    expect(heard).toEqual(['answer', 'hint']);
  });
});

describe('the front’s own address', () => {
  it.each([
    ['a browser', 'text/html,application/xhtml+xml,*/*;q=0.8', 302],
    ['a client', 'application/json', 404],
    ['who names no kind', '*/*', 404],
  ])('answers %s', async (_who, accept, status) => {
    const answer = await composed.mesh.front.request(`${frontUrl}/`, { headers: { accept } });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('location')).toBe(status === 302 ? '/inbox' : null);
  });
});

describe('an inbox page', () => {
  const open = async (token: string) => {
    const made = await composed.ask('/inbox/links', { method: 'POST' }, token);
    if (!made.ok) return { made, cookie: '' };
    const { url } = (await made.json()) as { url: string };
    const key = new URL(url).searchParams.get('key') ?? '';
    const body = new URLSearchParams({ key });
    const opened = await composed.mesh.front.request(`${frontUrl}/inbox/login`, {
      method: 'POST',
      body,
    });
    return { made, cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '' };
  };
  const page = (cookie: string, path = '', init: RequestInit = {}) =>
    composed.mesh.front.request(`${frontUrl}/inbox${path}`, {
      ...init,
      headers: { cookie },
    });
  /** What a question's page shows to a session of a token with these scopes, and a way to answer on it. */
  async function questionFor(scopes: Scope[]) {
    const uid = await composed.submit('operator', 'Approve the release?');
    const { question } = await eventually(
      () => composed.stateOf(uid),
      ({ phase }) => phase === 'input-required',
    );
    const { token } = await composed.tokenFor({ scopes });
    const { cookie } = await open(token);
    const shown = await (await page(cookie, `/tasks/${uid}`)).text();
    const csrf = /name="csrf" value="([0-9a-f]+)"/.exec(shown)?.[1] ?? '';
    const form = { csrf, value: 'approve', decisionId: question?.decisionId ?? '' };
    const answer = () => {
      const body = new URLSearchParams(form);
      return page(cookie, `/tasks/${uid}/answer`, { method: 'POST', body });
    };
    return { shown, answer, state: () => composed.stateOf(uid) };
  }

  it('does what its token may, and no more', async () => {
    const reading = await questionFor(['tasks:read']);
    expect(reading.shown).toContain('Approve the release?');
    expect(reading.shown).not.toContain('name="decisionId"');
    expect((await reading.answer()).status).toBeGreaterThanOrEqual(400);
    expect(await reading.state()).toMatchObject({ phase: 'input-required', decisions: [] });
    const answering = await questionFor(['tasks:read', 'tasks:answer']);
    expect((await answering.answer()).status).toBe(303);
    expect((await answering.state()).decisions).toMatchObject([{ value: 'approve' }]);
  });

  it('is for nobody who may not read', async () => {
    const { token } = await composed.tokenFor({ scopes: ['tasks:submit', 'tasks:answer'] });
    expect((await open(token)).made.status).toBe(403);
  });

  it('ends with its token: revoked', async () => {
    const { token, tokenId } = await composed.tokenFor({ scopes: ['tasks:read'] });
    const { cookie } = await open(token);
    expect((await page(cookie)).status).toBe(200);
    await composed.tokens.revokeToken(tokenId);
    expect((await page(cookie)).status).toBe(401);
  });

  it('ends with its token: expired, also as a link that was not used yet', async () => {
    const expiresAtMs = Date.now() + 1_000;
    const { token } = await composed.tokenFor({ scopes: ['tasks:read'], expiresAtMs });
    const { cookie } = await open(token);
    const unused = await composed.ask('/inbox/links', { method: 'POST' }, token);
    const { url } = (await unused.json()) as { url: string };
    expect((await page(cookie)).status).toBe(200);
    const ended = await eventually(
      async () => [(await page(cookie)).status, (await composed.mesh.front.request(url)).status],
      ([status]) => status !== 200,
    );
    expect(ended).toEqual([401, 403]);
  });
});
