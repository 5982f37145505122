import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { liteLlmFixtures } from './litellm-fixture.ts';
import { agentKeys } from './litellm-scenario.ts';

export interface FakeLiteLlm {
  readonly url: string;
  readonly masterKey: string;
  stop(): Promise<void>;
}

const masterKey = 'sk-fake-master';

/** A server on loopback that gives the answers a real LiteLLM proxy gave, headers included. */
export async function fakeLiteLlm(): Promise<FakeLiteLlm> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const wanted = {
        path: request.url ?? '',
        key: keyName(request.headers.authorization ?? ''),
        ...(typeof body['model'] === 'string' && { model: body['model'] }),
        ...(body['stream'] === true && { stream: true }),
      };
      const found = [...liteLlmFixtures(Date.now()).values()].find(
        (fixture) => JSON.stringify(fixture.request) === JSON.stringify(wanted),
      );
      if (found === undefined) {
        response.writeHead(599).end(`nothing was recorded for ${JSON.stringify(wanted)}`);
        return;
      }
      response.writeHead(found.status, found.headers).end(found.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    masterKey,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

function keyName(authorization: string): string {
  const key = authorization.replace('Bearer ', '');
  if (key === masterKey) return 'master';
  return Object.entries(agentKeys).find(([, value]) => value === key)?.[0] ?? 'unknown';
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
}
