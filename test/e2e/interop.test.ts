import { randomUUID } from 'node:crypto';
import { Role, TaskState, type Message } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  type CallInterceptor,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { meshHome, type MeshHome } from '../support/mesh-home.ts';
import { startMesh, type MeshProcess } from '../support/mesh-process.ts';
import { requireLegacyA2a } from '../support/services/a2a-legacy.ts';
import { describeWith } from '../support/services/service.ts';

let home: MeshHome;
let mesh: MeshProcess;
/** As a person makes it for a foreign tool. */
let token: string;

beforeAll(async () => {
  home = await meshHome();
  mesh = await startMesh({ home: home.dir });
  const made = await mesh.mesh('token', 'create', '--principal', 'operator', '--label', 'laptop');
  token = made.stdout.trim();
  expect(token).toMatch(/^\S{20,}$/);
}, 60_000);
afterAll(async () => {
  await mesh.stop('SIGKILL');
  home.remove();
});

const addressOf = (agentId: string): string => `${mesh.url}/agents/${agentId}/`;

/** `fetch` with the token in each request; without one for `undefined`. */
const fetchAs =
  (bearer: string | undefined): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers);
    if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
    return fetch(input, { ...init, headers });
  };

function clientOf(bearer: string | undefined) {
  const interceptor: CallInterceptor = {
    before(args) {
      if (bearer !== undefined) {
        const serviceParameters = { Authorization: `Bearer ${bearer}` };
        args.options = { ...args.options, serviceParameters };
      }
      return Promise.resolve();
    },
    after: () => Promise.resolve(),
  };
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetchAs(bearer) }),
    clientConfig: { interceptors: [interceptor] },
  });
  return new ClientFactory(options).createFromUrl(addressOf('understudy'));
}

function said(text: string): Message {
  return {
    messageId: randomUUID(),
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' },
    ],
    contextId: '',
    taskId: '',
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

const request = (text: string, returnImmediately = false) => ({
  tenant: '',
  message: said(text),
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately,
  },
  metadata: undefined,
});

const byId = (id: string) => ({ tenant: '', id });

describe('the A2A SDK 1.3.0 as a client', { timeout: 60_000 }, () => {
  it('discovers a persona at its well-known address, sends and gets', async () => {
    const client = await clientOf(token);
    expect(client.protocolVersion).toBe('1.0');
    const card = await client.getAgentCard();
    expect(card.name).toBe('Understudy');
    expect(card.skills.map(({ id }) => id)).toEqual(['rehearse']);
    expect(card.supportedInterfaces[0]?.url).toBe(addressOf('understudy'));
    const sent = await client.sendMessage(request('hello'));
    if (!('status' in sent)) throw new Error('it answered without a task');
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(sent.artifacts[0]?.parts[0]?.content).toMatchObject({
      $case: 'text',
      value: expect.stringContaining('Hello. I am the understudy') as string,
    });
    const got = await client.getTask(byId(sent.id));
    expect(got).toMatchObject({ id: sent.id, contextId: sent.contextId });
    expect(got.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('streams: the task first, its answer in pieces, the end last', async () => {
    const client = await clientOf(token);
    const kinds: string[] = [];
    let last: unknown;
    for await (const { payload } of client.sendMessageStream(request('hello'))) {
      kinds.push(payload?.$case ?? 'nothing');
      last = payload?.value;
    }
    expect(kinds[0]).toBe('task');
    expect(kinds.filter((kind) => kind === 'artifactUpdate').length).toBeGreaterThan(1);
    expect(kinds.at(-1)).toBe('statusUpdate');
    expect(last).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
  });

  it('cancels work under way and lists what it has', async () => {
    const client = await clientOf(token);
    const sent = await client.sendMessage(request('work slowly', true));
    if (!('status' in sent)) throw new Error('it answered without a task');
    const canceled = await client.cancelTask({ ...byId(sent.id), metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const page = await client.listTasks({
      tenant: '',
      contextId: '',
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(page.tasks.map(({ id }) => id)).toContain(sent.id);
    const only = await client.listTasks({
      tenant: '',
      contextId: sent.contextId,
      status: TaskState.TASK_STATE_CANCELED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(only.tasks.map(({ id }) => id)).toEqual([sent.id]);
  });

  it('finds only a minimal card without a token, and no call is answered', async () => {
    const client = await clientOf(undefined);
    const card = await client.getAgentCard();
    expect(card.name).toBe('Understudy');
    expect(card.capabilities?.extensions.map(({ uri }) => uri) ?? []).not.toContain(
      'urn:cardmesh:ext:card:v1',
    );
    expect(card.skills.map(({ id }) => id)).not.toContain('rehearse');
    expect(Object.keys(card.securitySchemes)).not.toEqual([]);
    await expect(client.sendMessage(request('hello'))).rejects.toThrow(/no credential|401/);
    await expect(client.getTask(byId('0'.repeat(32)))).rejects.toThrow(/no credential|401/);
    await expect(async () => {
      for await (const event of client.sendMessageStream(request('hello')))
        expect(event).toBeNull();
    }).rejects.toThrow(/no credential|401/);
  });

  it('is refused on every method of both versions without a token, whatever the body', async () => {
    const methods = [
      ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask'],
      ...['SubscribeToTask', 'GetExtendedAgentCard', 'CreateTaskPushNotificationConfig'],
      ...['message/send', 'message/stream', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe'],
      ...[
        'cardmesh/answer',
        'cardmesh/verify',
        'cardmesh/why',
        'cardmesh/steer',
        'cardmesh/progress',
        'no/such',
      ],
    ];
    for (const method of methods) {
      const answer = await fetch(addressOf('understudy'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} }),
      });
      expect([method, answer.status]).toEqual([method, 401]);
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
      expect(await answer.text()).not.toContain('params');
    }
    const broken = await fetch(addressOf('understudy'), { method: 'POST', body: '{"jsonrpc":' });
    expect(broken.status).toBe(401);
  });
});

/** What this file uses of the 0.3 client; its types would be of another generation. */
interface LegacyClient {
  sendMessage(params: unknown): Promise<unknown>;
  sendMessageStream(params: unknown): AsyncIterable<unknown>;
  getTask(params: { id: string }): Promise<unknown>;
  cancelTask(params: { id: string }): Promise<unknown>;
}
interface LegacyModule {
  readonly ClientFactory: new (options: unknown) => {
    createFromUrl(url: string, path?: string): Promise<LegacyClient>;
  };
  readonly JsonRpcTransportFactory: new (options: unknown) => unknown;
  readonly DefaultAgentCardResolver: new (options: unknown) => unknown;
}

const LegacyTask = z.looseObject({
  kind: z.literal('task'),
  id: z.string(),
  status: z.looseObject({ state: z.string() }),
  artifacts: z
    .array(z.looseObject({ parts: z.array(z.looseObject({ kind: z.string() })) }))
    .optional(),
});
const LegacyEvent = z.looseObject({
  kind: z.enum(['task', 'status-update', 'artifact-update', 'message']),
  final: z.boolean().optional(),
});

describeWith('a2a-legacy-0.3', 'the A2A SDK 0.3.14 as a client', () => {
  const legacyClient = (bearer: string | undefined, path?: string): Promise<LegacyClient> => {
    const sdk = requireLegacyA2a('0.3', '@a2a-js/sdk/client') as LegacyModule;
    const fetchImpl = fetchAs(bearer);
    return new sdk.ClientFactory({
      transports: [new sdk.JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new sdk.DefaultAgentCardResolver({ fetchImpl }),
    }).createFromUrl(addressOf('understudy'), path);
  };
  const params = (text: string, blocking = true) => ({
    message: {
      kind: 'message',
      messageId: randomUUID(),
      role: 'user',
      parts: [{ kind: 'text', text }],
    },
    configuration: { blocking },
  });

  it.each([['.well-known/agent-card.json'], ['.well-known/agent.json']])(
    'discovers a persona at %s, sends, gets and streams',
    async (path) => {
      const client = await legacyClient(token, path);
      const sent = LegacyTask.parse(await client.sendMessage(params('hello')));
      expect(sent.status.state).toBe('completed');
      expect(sent.artifacts?.[0]?.parts[0]).toMatchObject({
        kind: 'text',
        text: expect.stringContaining('Hello. I am the understudy') as string,
      });
      const got = LegacyTask.parse(await client.getTask({ id: sent.id }));
      expect(got).toMatchObject({ id: sent.id, status: { state: 'completed' } });
      const events = [];
      for await (const event of client.sendMessageStream(params('hello'))) {
        events.push(LegacyEvent.parse(event));
      }
      expect(events[0]?.kind).toBe('task');
      expect(events.some(({ kind }) => kind === 'artifact-update')).toBe(true);
      expect(events.at(-1)).toMatchObject({ kind: 'status-update', final: true });
    },
    60_000,
  );

  it('cancels work under way', async () => {
    const client = await legacyClient(token);
    const sent = LegacyTask.parse(await client.sendMessage(params('work slowly', false)));
    expect(['submitted', 'working']).toContain(sent.status.state);
    const canceled = LegacyTask.parse(await client.cancelTask({ id: sent.id }));
    expect(canceled.status.state).toBe('canceled');
  });

  it('is refused without a token', async () => {
    const client = await legacyClient(undefined);
    await expect(client.sendMessage(params('hello'))).rejects.toThrow(/no credential|401/);
    await expect(client.getTask({ id: '0'.repeat(32) })).rejects.toThrow(/no credential|401/);
  });
});
