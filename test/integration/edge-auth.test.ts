import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueRunToken } from '../../agents/auth/run-token.ts';
import { thumbprint } from '../../cards/schema/public-key.ts';
import { edgeMesh, meshSecret, type EdgeMesh } from '../support/edge-mesh.ts';
import { message, rpc, taskOf } from '../support/edge-calls.ts';
import { answered, ledRun, shout } from '../support/edge-runs.ts';
import { cardFields } from '../support/card-yaml.ts';

let mesh: EdgeMesh;
let url: string;
beforeAll(async () => {
  mesh = await edgeMesh();
  url = mesh.urlOf('adolf');
  mesh.runs.set('adolf', shout);
});
afterAll(() => mesh.close());

type Headers = Record<string, string>;
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
const seconds = () => Math.floor(Date.now() / 1_000);

/** A call of `helper` to `adolf`, with claims and header changed, signed by its own key. */
async function forged(claims: object = {}, header: object = {}, key = mesh.keyOf('helper')) {
  const now = seconds();
  return new SignJWT({
    ...{ iss: 'helper', sub: 'helper', aud: 'adolf', iat: now, exp: now + 60 },
    ...{ scope: 'tasks:submit tasks:read cards:read' },
    ...claims,
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: thumbprint(key.x), ...header })
    .sign(await importJWK({ ...key }, 'EdDSA'));
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const now = () => ({
  ...{ iss: 'helper', sub: 'helper', aud: 'adolf', exp: seconds() + 60 },
  scope: 'tasks:submit tasks:read cards:read',
});

/** Every credential that must not be believed, made when it is needed. */
const wrong: Record<string, () => Promise<Headers> | Headers> = {
  'an empty one': () => ({ Authorization: '' }),
  'an empty bearer': () => ({ Authorization: 'Bearer ' }),
  Basic: () => ({ Authorization: `Basic ${Buffer.from('a:b').toString('base64')}` }),
  garbage: () => bearer('garbage'),
  'three dots': () => bearer('a.b.c'),
  'an API token nobody made': () => bearer(`mesh_${'0'.repeat(12)}_${'0'.repeat(64)}`),
  'an API key nobody made': () => ({ 'X-API-Key': `mesh_${'0'.repeat(12)}_${'0'.repeat(64)}` }),
  'an API token with another secret': async () => {
    const token = await mesh.tokenOf('alvis');
    return bearer(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`);
  },
  'an expired API token': async () => {
    const made = await mesh.tokens.createToken({
      ...{ principalId: 'alvis', role: 'human', scopes: ['tasks:read'], label: 'old' },
      expiresAtMs: Date.now() - 1_000,
    });
    return bearer(made.token);
  },
  'a revoked API token': async () => {
    const wish = { principalId: 'alvis', role: 'human' as const, label: 'gone' };
    const { token, record } = await mesh.tokens.createToken({ ...wish, scopes: ['tasks:read'] });
    await rpc(url, 'ListTasks', {}, { token });
    await mesh.tokens.revokeToken(record.tokenId);
    return bearer(token);
  },
  'an API token of an agent for a person': async () => {
    const wish = { principalId: 'helper', role: 'human' as const, label: 'wrong role' };
    return bearer((await mesh.tokens.createToken({ ...wish, scopes: ['tasks:read'] })).token);
  },
  'two headers at once': async () => {
    const token = await mesh.tokenOf('alvis');
    return { ...bearer(token), 'X-API-Key': token };
  },
  'a JWT as API key': async () => ({ 'X-API-Key': await forged() }),
  'an expired JWT': async () => bearer(await forged({ iat: seconds() - 600, exp: seconds() - 60 })),
  'a JWT that is not valid yet': async () => bearer(await forged({ nbf: seconds() + 60 })),
  'a JWT that lives too long': async () => bearer(await forged({ exp: seconds() + 3_600 })),
  'a JWT without end': async () => bearer(await forged({ exp: undefined })),
  'a JWT without scope': async () => bearer(await forged({ scope: undefined })),
  'a JWT for another agent': async () => bearer(await forged({ aud: 'slow' })),
  'a JWT of nobody': async () => bearer(await forged({ iss: 'nobody', sub: 'nobody' })),
  'a JWT in another’s name': async () => bearer(await forged({ iss: 'adolf', sub: 'adolf' })),
  'a JWT with another subject': async () => bearer(await forged({ sub: 'operator' })),
  'a relay by one who is no router': async () =>
    bearer(await forged({ sub: 'operator', act: { sub: 'helper' }, role: 'human' })),
  'half of a run': async () => bearer(await forged({ task: 'f'.repeat(32) })),
  'a run that is not': async () => bearer(await forged({ task: 'f'.repeat(32), fence: 1 })),
  'an unknown kid': async () => bearer(await forged({}, { kid: 'unknown' })),
  'no kid': async () => bearer(await forged({}, { kid: undefined })),
  'another typ': async () => bearer(await forged({}, { typ: 'at+jwt' })),
  'the key of another': async () => bearer(await forged({}, {}, mesh.keyOf('slow'))),
  'a key of their own': async () => {
    const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const { x, d } = await exportJWK(privateKey);
    const key = { kty: 'OKP' as const, crv: 'Ed25519' as const, x: x!, d: d! };
    return bearer(await forged({}, { kid: thumbprint(mesh.keyOf('helper').x) }, key));
  },
  'alg none': () => bearer(`${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(now())}.`),
  'HS256 with the public key': () => {
    const { x } = mesh.keyOf('helper');
    const body = `${encoded({ alg: 'HS256', typ: 'JWT', kid: thumbprint(x) })}.${encoded(now())}`;
    const mac = createHmac('sha256', Buffer.from(x, 'base64url')).update(body).digest('base64url');
    return bearer(`${body}.${mac}`);
  },
  'a run token made with the mesh secret itself': () => {
    const claims = {
      sub: 'helper',
      aud: 'mesh',
      task: 'f'.repeat(32),
      fence: 1,
      exp: seconds() + 60,
    };
    const body = `${encoded({ alg: 'HS256', typ: 'mesh-run+jwt' })}.${encoded(claims)}`;
    return bearer(`${body}.${createHmac('sha256', meshSecret).update(body).digest('base64url')}`);
  },
  'a run token of a task that is not': async () =>
    bearer(
      await issueRunToken({
        ...{ meshSecret, agentId: 'helper', taskId: 'f'.repeat(32), fence: 1 },
        expiresAtMs: Date.now() + 60_000,
      }),
    ),
};

interface Route {
  readonly method: string;
  readonly path: string;
}

/** The routes of the running service; a new one comes into the matrix by itself. */
function routes(): Route[] {
  const found = mesh.serviceOf('adolf').routes.map(({ method, path }) => ({ method, path }));
  return found.filter(({ method, path }) => method !== 'ALL' && !path.endsWith('/*'));
}

const ask = ({ method, path }: Route, headers: Headers, query = '') =>
  fetch(
    `${url.slice(0, -1)}${path.replace(':taskId', 'f'.repeat(32)).replace(':artifactId', 'a')}${query}`,
    {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(method === 'POST'
        ? { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }) }
        : {}),
    },
  );

describe('the matrix of routes and credentials', () => {
  it('knows every route', () => {
    expect(routes().map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /',
      'GET /.well-known/agent.json',
      'GET /.well-known/agent-card.json',
      'GET /artifacts/:taskId/:artifactId',
    ]);
  });

  it.each(Object.keys(wrong))('refuses %s on every route, and says how to get in', async (name) => {
    for (const route of routes()) {
      const response = await ask(route, await wrong[name]!());
      expect([`${route.method} ${route.path}`, response.status]).toEqual([
        `${route.method} ${route.path}`,
        401,
      ]);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('refuses a token in the address on every route', async () => {
    const token = await mesh.tokenOf('alvis');
    for (const route of routes()) {
      for (const name of ['access_token', 'token', 'api_key']) {
        expect((await ask(route, {}, `?${name}=${token}`)).status).toBe(401);
        expect((await ask(route, bearer(token), `?${name}=${token}`)).status).toBe(401);
      }
    }
  });

  it('refuses two headers of one name, though the first is good', async () => {
    const token = await mesh.tokenOf('alvis');
    const { hostname, port } = new URL(url);
    const request = httpRequest({ hostname, port, path: '/.well-known/agent-card.json' });
    request.setHeader('Authorization', [`Bearer ${token}`, 'Bearer garbage']);
    const status = new Promise((resolve) => {
      request.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    request.end();
    expect(await status).toBe(401);
  });

  it('without any credential only gives the minimal card', async () => {
    for (const route of routes()) {
      const response = await ask(route, {});
      const isCard = route.path.startsWith('/.well-known');
      expect([route.path, response.status]).toEqual([route.path, isCard ? 200 : 401]);
    }
  });

  it('says the same whatever was wrong', async () => {
    const [route] = routes();
    const said = new Set<string>();
    for (const make of Object.values(wrong))
      said.add(await (await ask(route!, await make())).text());
    expect(said.size).toBe(1);
  });
});

describe('credentials that hold', () => {
  it('are an API token in either header, a signed call and a run’s token', async () => {
    const token = await mesh.tokenOf('alvis');
    const [post] = routes();
    expect((await ask(post!, bearer(token))).status).toBe(200);
    expect((await ask(post!, { 'X-API-Key': token })).status).toBe(200);
    expect((await ask(post!, bearer(await mesh.signed('helper', 'adolf')))).status).toBe(200);
    expect((await ask(post!, bearer(await forged({ nbf: seconds() + 3 })))).status).toBe(200);
  });

  it('end with the run they are bound to', async () => {
    const run = ledRun();
    mesh.runs.set('helper', run.runTask);
    const alice = await mesh.tokenOf('alice');
    const call = rpc(
      mesh.urlOf('helper'),
      'SendMessage',
      { message: message('x') },
      { token: alice },
    );
    const { state, fence } = await run.begun;
    const token = await issueRunToken({
      ...{ meshSecret, agentId: 'helper', taskId: state.taskId, fence },
      expiresAtMs: Date.now() + 60_000,
    });
    const child = await rpc(url, 'SendMessage', { message: message('child') }, { token });
    expect(taskOf(child).metadata).toMatchObject({ parent: state.taskId });
    run.finish(await answered(await run.begun, 'done'));
    await call;
    const late = await rpc(url, 'SendMessage', { message: message('late') }, { token });
    expect(late.status).toBe(401);
  });

  it('need the scope of what they ask for', async () => {
    const token = await mesh.tokenOf('reader', ['tasks:read']);
    const reply = await rpc(url, 'SendMessage', { message: message('x') }, { token });
    expect(reply.status).toBe(403);
    expect(reply.error?.code).toBe(40301);
    expect((await rpc(url, 'ListTasks', {}, { token })).status).toBe(200);
  });

  it('never give an agent what is for people and hosts', async () => {
    const asked = { scope: ['tasks:read', 'tasks:read-all', 'admin'] as const };
    mesh.runs.set('adolf', shout);
    const alice = await mesh.tokenOf('alice');
    const { id } = taskOf(
      await rpc(url, 'SendMessage', { message: message('hers') }, { token: alice }),
    );
    const token = await mesh.signed('helper', 'adolf', asked);
    expect((await rpc(url, 'GetTask', { id }, { token })).error?.code).toBe(-32001);
  });

  it('let a trusted router act for whom it has authenticated', async () => {
    const relay = await mesh.signed('router', 'adolf', {
      onBehalfOf: { id: 'alice', role: 'human' },
    });
    const task = taskOf(
      await rpc(url, 'SendMessage', { message: message('relayed') }, { token: relay }),
    );
    const log = await mesh.board.read(task.id as never);
    expect(log?.state.task.provenance).toMatchObject({ submitter: 'alice', via: 'router' });
  });

  it('hold only as long as the newest Cards name the key', async () => {
    const token = await mesh.signed('slow', 'adolf');
    expect((await rpc(url, 'ListTasks', {}, { token })).status).toBe(200);
    const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const { x } = await exportJWK(privateKey);
    const identity = { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint(x!) };
    mesh.home.card(cardFields({ id: 'slow', name: 'Slow', identity }));
    mesh.home.commit('Another key');
    await mesh.registry.reload();
    expect((await rpc(url, 'ListTasks', {}, { token })).status).toBe(401);
  });
});

describe('the agent card', () => {
  const card = async (path: string, headers: Headers = {}) => {
    const response = await fetch(`${url}.well-known/${path}`, { headers });
    return { response, body: (await response.json()) as Record<string, unknown> };
  };

  it('is minimal for everybody and full with a credential', async () => {
    const open = await card('agent-card.json');
    expect(JSON.stringify(open.body)).not.toMatch(/trust|queue|commit/);
    const token = await mesh.tokenOf('alvis');
    const full = await card('agent-card.json', bearer(token));
    expect(JSON.stringify(full.body)).toContain('urn:cardmesh:ext:card:v1');
    expect(full.response.headers.get('cache-control')).toMatch(/^private/);
    expect(full.response.headers.get('vary')).toContain('Authorization');
  });

  it('comes in the shape of the version that is asked for', async () => {
    const current = await card('agent-card.json', { 'A2A-Version': '1.0' });
    expect(current.body).toHaveProperty('supportedInterfaces');
    expect(current.body).not.toHaveProperty('protocolVersion');
    const older = await card('agent-card.json', { 'A2A-Version': '0.3' });
    expect(older.body).toMatchObject({ protocolVersion: '0.3.0', url });
    expect((await card('agent.json')).body).toEqual(older.body);
    expect((await card('agent-card.json')).body).toMatchObject({
      url,
      supportedInterfaces: [{ url }, { url }],
    });
  });

  it('has a strong ETag and is not sent again to who has it', async () => {
    const { response } = await card('agent-card.json');
    const etag = response.headers.get('etag') ?? '';
    const again = await fetch(`${url}.well-known/agent-card.json`, {
      headers: { 'If-None-Match': etag },
    });
    expect(again.status).toBe(304);
  });
});
