import { Role, TaskState, type SendMessageRequest, type StreamResponse } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Client,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { edgeMesh, type EdgeMesh } from '../support/edge-mesh.ts';
import { ledRun, answered, shout } from '../support/edge-runs.ts';
import { requireLegacyA2a } from '../support/services/a2a-legacy.ts';
import { describeWith } from '../support/services/service.ts';

let mesh: EdgeMesh;
let authorized: typeof fetch;
beforeAll(async () => {
  mesh = await edgeMesh();
  const token = await mesh.tokenOf('alvis');
  const plain = fetch;
  authorized = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return plain(input, { ...init, headers });
  };
});
afterAll(() => mesh.close());

let sent = 0;
const request = (value: string, change: object = {}): SendMessageRequest => ({
  tenant: '',
  metadata: undefined,
  configuration: undefined,
  message: {
    messageId: `interop-${++sent}`,
    role: Role.ROLE_USER,
    parts: [
      {
        content: { $case: 'text', value },
        metadata: undefined,
        filename: '',
        mediaType: 'text/plain',
      },
    ],
    contextId: '',
    taskId: '',
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...change,
  },
});

/** Its options are a class that the SDK does not give out. */
const jsonRpc = (options: { readonly fetchImpl: typeof fetch }) =>
  Reflect.construct(JsonRpcTransportFactory, [options]) as JsonRpcTransportFactory;

describe('the client of SDK 1.3.0', () => {
  let client: Client;
  beforeAll(async () => {
    const fetchImpl = authorized;
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [jsonRpc({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    });
    client = await new ClientFactory(options).createFromUrl(mesh.urlOf('adolf'));
  });

  it('discovers, sends, reads, lists', async () => {
    mesh.runs.set('adolf', shout);
    const task = await client.sendMessage(request('hello'));
    if (!('status' in task)) throw new Error('a Task was to come');
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'HELLO' });
    const again = await client.getTask({ tenant: '', id: task.id });
    expect(again.id).toBe(task.id);
    const list = await client.listTasks({
      ...{
        tenant: '',
        contextId: task.contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
      },
      statusTimestampAfter: undefined,
    });
    expect(list.tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it('streams and subscribes', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const cases = async (events: AsyncIterable<StreamResponse>, onFirst?: (id: string) => void) => {
      const seen: string[] = [];
      for await (const { payload } of events) {
        seen.push(payload?.$case ?? '');
        if (payload?.$case === 'task' && seen.length === 1) onFirst?.(payload.value.id);
      }
      return seen;
    };
    let subscribed: Promise<string[]> | undefined;
    const own = cases(client.sendMessageStream(request('stream')), (id) => {
      subscribed = cases(client.resubscribeTask({ tenant: '', id }), () => {
        void run.begun.then(async (begun) => {
          begun.chunk('a');
          run.finish(await answered(begun, 'ab'));
        });
      });
    });
    expect((await own).slice(-3)).toEqual(['artifactUpdate', 'artifactUpdate', 'statusUpdate']);
    expect(await subscribed).toEqual(['task', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  it('cancels', async () => {
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const call = client.sendMessage(request('long'));
    const { taskId: id } = (await run.begun).state;
    const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await call;
  });

  it('meets errors of its own kinds', async () => {
    await expect(client.getTask({ tenant: '', id: 'f'.repeat(32) })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    });
  });
});

interface LegacyClient {
  sendMessage(params: object): Promise<unknown>;
  sendMessageStream(params: object): AsyncIterable<{ readonly kind: string }>;
  getTask(params: object): Promise<unknown>;
  cancelTask(params: object): Promise<unknown>;
}
interface LegacyFactory {
  createFromUrl(url: string, path?: string): Promise<LegacyClient>;
}
interface LegacyModule {
  readonly ClientFactory: new (options: object) => LegacyFactory;
  readonly ClientFactoryOptions: {
    readonly default: object;
    createFrom(base: object, change: object): object;
  };
  readonly JsonRpcTransportFactory: new (options: object) => object;
  readonly DefaultAgentCardResolver: new (options: object) => object;
}

const older = (text: string) => ({
  message: {
    kind: 'message',
    messageId: `older-${++sent}`,
    role: 'user',
    parts: [{ kind: 'text', text }],
  },
});

describeWith('a2a-legacy-0.3', 'the client of SDK 0.3.14', () => {
  const open = (path?: string) => {
    const sdk = requireLegacyA2a('0.3', '@a2a-js/sdk/client') as LegacyModule;
    const fetchImpl = authorized;
    const options = sdk.ClientFactoryOptions.createFrom(sdk.ClientFactoryOptions.default, {
      transports: [new sdk.JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new sdk.DefaultAgentCardResolver({ fetchImpl }),
    });
    return new sdk.ClientFactory(options).createFromUrl(mesh.urlOf('adolf'), path);
  };

  it.each([undefined, '.well-known/agent.json'])('discovers at %s, sends, reads', async (path) => {
    mesh.runs.set('adolf', shout);
    const client = await open(path);
    const task = await client.sendMessage(older('hello'));
    expect(task).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    const { id } = task as { id: string };
    expect(await client.getTask({ id })).toMatchObject({ id, kind: 'task' });
  });

  it('streams to a final event, and cancels', async () => {
    mesh.runs.set('adolf', shout);
    const client = await open();
    const kinds: string[] = [];
    for await (const { kind } of client.sendMessageStream(older('stream'))) kinds.push(kind);
    expect(kinds[0]).toBe('task');
    expect(kinds.slice(-2)).toEqual(['artifact-update', 'status-update']);
    const run = ledRun();
    mesh.runs.set('adolf', run.runTask);
    const call = client.sendMessage(older('long'));
    const { taskId: id } = (await run.begun).state;
    expect(await client.cancelTask({ id })).toMatchObject({ status: { state: 'canceled' } });
    await call;
  });
});

interface OldestClient {
  sendMessage(params: object): Promise<unknown>;
}

describeWith('a2a-legacy-0.2', 'the client of SDK 0.2.5', () => {
  it('discovers at agent.json and sends', async () => {
    mesh.runs.set('adolf', shout);
    const { A2AClient } = requireLegacyA2a('0.2', '@a2a-js/sdk/client') as {
      readonly A2AClient: new (url: string) => OldestClient;
    };
    const before = globalThis.fetch;
    // This generation takes no fetch of its caller's.
    globalThis.fetch = authorized;
    try {
      const client = new A2AClient(mesh.urlOf('adolf').slice(0, -1));
      const reply = await client.sendMessage(older('hello'));
      expect(reply).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } });
    } finally {
      globalThis.fetch = before;
    }
  });
});
