import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeLiteLlm } from '../support/fake-litellm.ts';
import type { FakeLiteLlm } from '../support/fake-litellm.ts';
import { chatRequest, gatewayAt, gatewayContract } from '../support/gateway-contract.ts';
import { openAiUpstream } from '../support/openai-upstream.ts';

describe('GatewayClient on recorded answers', () => {
  let fake: FakeLiteLlm;
  beforeAll(async () => {
    fake = await fakeLiteLlm();
  });
  afterAll(() => fake.stop());
  gatewayContract(() => fake);
});

describe('GatewayClient and a server that is no LiteLLM', () => {
  it('stops waiting at its time limit, and at its caller’s word', async () => {
    const upstream = await openAiUpstream({ silent: { kind: 'silent' } });
    const client = gatewayAt({ url: upstream.url, masterKey: '' }, 'k');
    const late = await client.chat({ ...chatRequest('silent'), timeoutMs: 50 });
    expect(late).toMatchObject({ ok: false, class: 'transient', notSent: false });
    const controller = new AbortController();
    const stopped = client.chat(chatRequest('silent'), controller.signal);
    controller.abort();
    expect(await stopped).toMatchObject({ ok: false, class: 'aborted', retry: 'never' });
    await upstream.stop();
  });

  it('knows that nothing was sent where nobody listens', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const client = gatewayAt({ url: `http://127.0.0.1:${port}`, masterKey: '' }, 'k');
    const down = { ok: false, class: 'gateway-down', notSent: true };
    expect(await client.chat(chatRequest('ok'))).toMatchObject(down);
    expect(await client.health()).toMatchObject(down);
  });

  it('sends one request, whatever the answer says about trying again', async () => {
    const upstream = await openAiUpstream({
      wall: { kind: 'error', status: 429, body: {}, headers: { 'retry-after': '7200' } },
    });
    const client = gatewayAt({ url: upstream.url, masterKey: '' }, 'k');
    const answer = await client.chat(chatRequest('wall'));
    expect(answer).toMatchObject({ ok: false, class: 'provider-429' });
    expect(upstream.requests).toHaveLength(1);
    const [request] = upstream.requests;
    expect(request?.body).toMatchObject({
      disable_fallbacks: true,
      num_retries: 0,
      tags: ['agent:adolf', `task:${'a'.repeat(32)}`, 'queue:adolf'],
      metadata: { agent: 'adolf', task_id: 'a'.repeat(32), queue: 'adolf', session_id: 'family-1' },
    });
    expect(request?.headers['x-litellm-trace-id']).toBe('a'.repeat(32));
    await upstream.stop();
  });
});
