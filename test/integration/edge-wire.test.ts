import fc from 'fast-check';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { errorOf, message, rpc, taskOf } from '../support/edge-calls.ts';
import { shout } from '../support/edge-runs.ts';

let mesh: EdgeMesh;
let token: string;
let url: string;
beforeAll(async () => {
  mesh = await edgeMesh();
  token = await mesh.tokenOf('alvis');
  url = mesh.urlOf('adolf');
  mesh.runs.set('adolf', shout);
});
afterAll(() => mesh.close());

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
      'A2A-Version': '1.0',
      ...headers,
    },
    body,
  });
const errorFor = async (body: string | Uint8Array<ArrayBuffer>, headers = {}) => {
  const response = await post(body, headers);
  const { id, error } = (await response.json()) as { id: unknown; error: { code: number } };
  return { status: response.status, id, code: error.code };
};
const legacy = (text: string, configuration?: object) => ({
  message: {
    kind: 'message',
    role: 'user',
    messageId: `old-${text}`,
    parts: [{ kind: 'text', text }],
  },
  ...(configuration ? { configuration } : {}),
});

describe('versions on one address', () => {
  it.each([
    ['1.0', 'GetTask', -32001],
    ['1.0.1', 'GetTask', -32001],
    ['1.1', 'GetTask', -32001],
    [undefined, 'GetTask', -32001],
    ['0.3', 'tasks/get', -32001],
    ['0.3.0', 'tasks/get', -32001],
    ['', 'tasks/get', -32001],
    [undefined, 'tasks/get', -32001],
    ['1.0', 'tasks/get', -32601],
    ['0.3', 'GetTask', -32601],
    [undefined, 'NoSuchMethod', -32601],
    ['2.0', 'GetTask', -32009],
    ['0.2', 'tasks/get', -32009],
    ['one', 'GetTask', -32009],
    ['1.0', 'constructor', -32601],
  ])('%j with %s is answered %d', async (version, method, code) => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 'v',
      method,
      params: { id: 'f'.repeat(32) },
    });
    const headers = new Headers({
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
    });
    if (version !== undefined) headers.set('A2A-Version', version);
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 'v', error: { code } });
  });

  it('reads the version from the address, too, and answers with and without the slash', async () => {
    const at = `${url.slice(0, -1)}?A2A-Version=1.0`;
    const reply = await rpc(at, 'GetTask', { id: 'f'.repeat(32) }, { token, version: '' });
    expect(errorOf(reply).code).toBe(-32001);
  });

  it('speaks 0.3: bare Task, kinds, and blocking unless told otherwise (H9)', async () => {
    const options = { token, version: '0.3' };
    const waited = await rpc(url, 'message/send', legacy('wait'), options);
    expect(waited.result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    const configured = legacy('wait with configuration', { acceptedOutputModes: ['text/plain'] });
    const also = await rpc(url, 'message/send', configured, options);
    expect(also.result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    const at = mesh.urlOf('slow');
    const atOnce = await rpc(at, 'message/send', legacy('now', { blocking: false }), options);
    expect(atOnce.result).toMatchObject({ status: { state: 'submitted' } });
  });

  it('echoes extensions that were asked for and are served', async () => {
    const asked = 'urn:cardmesh:ext:submit:v1, urn:nobody:knows';
    const reply = await rpc(
      url,
      'SendMessage',
      { message: message('x') },
      { token, headers: { 'A2A-Extensions': asked } },
    );
    expect(reply.headers.get('a2a-extensions')).toBe('urn:cardmesh:ext:submit:v1');
    expect(reply.headers.get('a2a-version')).toBe('1.0');
  });
});

describe('what is no request', () => {
  it.each([
    ['{', null, -32700],
    ['', null, -32700],
    ['[]', null, -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', null, -32600],
    ['null', null, -32600],
    ['7', null, -32600],
    ['{"id":5,"method":"GetTask"}', 5, -32600],
    ['{"jsonrpc":"1.0","id":"a","method":"GetTask"}', 'a', -32600],
    ['{"jsonrpc":"2.0","id":"a"}', 'a', -32600],
    ['{"jsonrpc":"2.0","id":"a","method":7}', 'a', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"GetTask"}', null, -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask"}', null, -32600],
    ['{"jsonrpc":"2.0","id":3,"method":"GetTask","params":[]}', 3, -32602],
    ['{"jsonrpc":"2.0","id":3,"method":"GetTask","params":"x"}', 3, -32602],
    ['{"jsonrpc":"2.0","id":3,"method":"GetTask"}', 3, -32602],
    [`{"jsonrpc":"2.0","id":3,"method":"GetTask","params":${'['.repeat(5_000)}}`, null, -32600],
  ])('%.60s is answered under id %j with %d', async (body, id, code) => {
    expect(await errorFor(body)).toEqual({ status: 200, id, code });
  });

  it('is refused when it is not UTF-8 or not JSON by its header', async () => {
    expect(await errorFor(new Uint8Array([0xff, 0xfe, 0x7b]))).toMatchObject({ code: -32700 });
    expect(await errorFor('{}', { 'Content-Type': 'text/plain' })).toMatchObject({
      status: 415,
      code: -32005,
    });
  });

  it.each([
    ['no parts', { parts: [] }, 'params.message.parts'],
    ['an empty part', { parts: [{}] }, 'params.message.parts[0]'],
    ['two contents', { parts: [{ text: 'a', url: 'b' }] }, 'params.message.parts[0]'],
    ['no role', { role: undefined }, 'params.message.role'],
    ['the role of an agent', { role: 'ROLE_AGENT' }, 'params.message.role'],
    ['no messageId', { messageId: '' }, 'params.message.messageId'],
    ['a number for a text', { parts: [{ text: 7 }] }, 'params.message.parts[0].text'],
    ['half a character', { parts: [{ text: '\ud800' }] }, 'params.message.parts[0].text'],
  ])('%s is refused, and the field is named (H5)', async (_what, change, field) => {
    const reply = await rpc(url, 'SendMessage', { message: message('x', change) }, { token });
    expect(reply.error?.code).toBe(-32602);
    expect(reply.error?.data).toContainEqual(
      expect.objectContaining({
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: expect.arrayContaining([expect.objectContaining({ field })]) as unknown,
      }),
    );
  });

  it('believes no tenant (H4)', async () => {
    const params = { id: 'f'.repeat(32), tenant: 'somebody' };
    expect(errorOf(await rpc(url, 'GetTask', params, { token })).code).toBe(-32602);
    const empty = { message: message('no tenant'), tenant: '' };
    expect(taskOf(await rpc(url, 'SendMessage', empty, { token })).status.state).toMatch(
      /COMPLETED/,
    );
  });

  it('refuses content that no persona reads', async () => {
    const parts = [{ raw: 'AAAA', mediaType: 'image/png', filename: 'x.png' }];
    const reply = await rpc(url, 'SendMessage', { message: message('', { parts }) }, { token });
    expect(errorOf(reply)).toMatchObject({ code: -32005, reason: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });

  it.each([
    ['CreateTaskPushNotificationConfig', -32003],
    ['GetTaskPushNotificationConfig', -32003],
    ['ListTaskPushNotificationConfigs', -32003],
    ['DeleteTaskPushNotificationConfig', -32003],
    ['GetExtendedAgentCard', -32004],
  ])('%s is answered %d before anything is looked up', async (method, code) => {
    const params = { taskId: 'f'.repeat(32), id: 'x', url: 'https://example.org/hook' };
    expect(errorOf(await rpc(url, method, params, { token })).code).toBe(code);
  });
});

describe('the size of a request', () => {
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'Nothing', pad: '' });
    return JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'Nothing',
      pad: 'x'.repeat(bytes - empty.length),
    });
  };

  it('may be 1 MiB and not one byte more', async () => {
    expect(await errorFor(padded(limits.bodyBytes))).toMatchObject({ status: 200, code: -32601 });
    expect(await errorFor(padded(limits.bodyBytes + 1))).toMatchObject({
      status: 413,
      code: -32600,
    });
  });

  it('is counted where no length is given, and the answer comes before a reset (H17)', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST / HTTP/1.1',
      `Host: ${hostname}`,
      'Content-Type: application/json',
      `Authorization: Bearer ${token}`,
      'Transfer-Encoding: chunked',
      '',
      '',
    ].join('\r\n');
    socket.write(head);
    const chunk = 'x'.repeat(64 * 1024);
    for (let n = 0; n < 32; n++) {
      socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    socket.end('0\r\n\r\n');
    let answer = '';
    for await (const bytes of socket) answer += String(bytes);
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
    expect(answer.toLowerCase()).toContain('connection: close');
  });
});

describe('any body at all', () => {
  const methods = fc.constantFrom(
    'SendMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'message/send',
    'tasks/get',
    'cardmesh/answer',
    'cardmesh/verify',
    'cardmesh/steer',
    'cardmesh/why',
    'cardmesh/progress',
    '__proto__',
  );
  const oddParams = fc.oneof(
    fc.jsonValue(),
    fc.record({ id: fc.jsonValue(), historyLength: fc.jsonValue() }, { requiredKeys: [] }),
    fc.record({ message: fc.jsonValue(), configuration: fc.jsonValue() }, { requiredKeys: [] }),
    fc.record({
      message: fc.record(
        {
          messageId: fc.jsonValue(),
          role: fc.constantFrom('ROLE_USER', 'user', 'ROLE_AGENT', 7, null),
          parts: fc.oneof(fc.array(fc.jsonValue(), { maxLength: 3 }), fc.jsonValue()),
          metadata: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    }),
    fc.record({ taskId: fc.jsonValue(), do: fc.jsonValue(), value: fc.jsonValue() }),
  );
  const envelope = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '1.0', 2),
      id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
      method: fc.oneof(methods, fc.string()),
      params: oddParams,
    },
    { requiredKeys: ['id'] },
  );

  it('gets a JSON-RPC answer under its own id and never a 5xx', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        envelope,
        fc.constantFrom('1.0', '0.3', ''),
        fc.boolean(),
        async (body, version, isCut) => {
          const whole = JSON.stringify(body);
          const text = isCut ? whole.slice(0, Math.floor(whole.length / 2)) : whole;
          const headers = {
            'Content-Type': 'application/json',
            Authorization: `Bearer ${token}`,
            'A2A-Version': version,
          };
          const response = await mesh
            .serviceOf('adolf')
            .request('/', { method: 'POST', headers, body: text });
          const answer = (await response.json()) as Record<string, unknown>;
          expect(response.status).toBeLessThan(500);
          expect(answer['jsonrpc']).toBe('2.0');
          if (!isCut) expect(answer['id']).toEqual(body.id);
          const { code } = (answer['error'] ?? { code: 0 }) as { code: number };
          // -32603 is a fault of ours.
          expect(code).not.toBe(-32603);
        },
      ),
      { numRuns: 5_000, seed: 20_261_130 },
    );
  });
});
