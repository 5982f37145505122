// The peer: the SDK's own Express server with its own handler and store, as its README shows it.
// Arguments: `none`, or `bearer <token>`. Says `{"url": …}` once it listens.
import { AgentCard, TaskState, type Message } from '@a2a-js/sdk';
import type {
  A2ARequestHandler,
  AgentExecutor,
  ExecutionEventBus,
  RequestContext,
  TaskStore,
} from '@a2a-js/sdk/server';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
interface ExpressApp {
  use(handler: Middleware): void;
  listen(port: number, host: string, listening: () => void): Server;
}
interface SdkExpress {
  jsonRpcHandler(options: { requestHandler: A2ARequestHandler; userBuilder: unknown }): Middleware;
  readonly UserBuilder: { readonly noAuthentication: unknown };
}
interface SdkServer {
  readonly DefaultRequestHandler: new (
    card: AgentCard,
    store: TaskStore,
    executor: AgentExecutor,
  ) => A2ARequestHandler;
  readonly InMemoryTaskStore: new () => TaskStore;
  readonly AgentEvent: Record<'task' | 'artifactUpdate' | 'statusUpdate', (data: object) => never>;
}

// Express lies in the bench's own node_modules, where the SDK finds it by NODE_PATH, which is for
// CommonJS only. By names in variables: the root's type check does not know the peers.
const require = createRequire(import.meta.url);
const express = require('express') as () => ExpressApp;
const { jsonRpcHandler, UserBuilder } = require('@a2a-js/sdk/server/express') as SdkExpress;
const { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } =
  require('@a2a-js/sdk/server') as SdkServer;

/** Does what our rehearsal does: says one sentence as an artifact, and is done. */
const executor: AgentExecutor = {
  execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus) {
    const status = (state: TaskState) => ({
      state,
      message: undefined,
      timestamp: new Date().toISOString(),
    });
    const history: Message[] = [userMessage];
    const working = status(TaskState.TASK_STATE_WORKING);
    bus.publish(
      AgentEvent.task({
        ...{ id: taskId, contextId, artifacts: [], history, metadata: undefined },
        status: working,
      }),
    );
    const content = { $case: 'text', value: 'Echo.' };
    const part = { content, metadata: undefined, filename: '', mediaType: 'text/plain' };
    const about = { artifactId: 'answer', name: 'answer', description: '', extensions: [] };
    const artifact = { ...about, parts: [part], metadata: undefined };
    const update = { taskId, contextId, metadata: undefined };
    bus.publish(AgentEvent.artifactUpdate({ ...update, artifact, append: false, lastChunk: true }));
    bus.publish(
      AgentEvent.statusUpdate({ ...update, status: status(TaskState.TASK_STATE_COMPLETED) }),
    );
    bus.finished();
    return Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
};

/** The least that a server with opaque tokens does: one digest, compared in constant time. */
function bearer(token: string): Middleware {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digestOf(`Bearer ${token}`);
  return (request, response, next) => {
    if (timingSafeEqual(digestOf(request.headers.authorization ?? ''), wanted)) {
      next();
      return;
    }
    response.statusCode = 401;
    response.end();
  };
}

const card = AgentCard.fromJSON({
  name: 'SDK echo',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  supportedInterfaces: [
    { url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
});
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const [kind, token = ''] = process.argv.slice(2);
const app = express();
if (kind === 'bearer') app.use(bearer(token));
app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/` })}\n`);
});
