import { describe, expect, it } from 'vitest';
import { chatRequest, gatewayAt, gatewayContract } from '../../support/gateway-contract.ts';
import { agentKeys } from '../../support/litellm-scenario.ts';
import type { Scenario } from './scenario.ts';

/** `GatewayClient` on the proxy: the contract that the recorded answers keep too, and what only the real one shows. */
export function testGatewayClient(scenario: () => Scenario): void {
  describe('keeps the contract', () => {
    gatewayContract(() => scenario().proxy);
  });

  it('reaches the provider exactly once, also where it fails', async () => {
    const { proxy, upstream } = scenario();
    for (const model of ['ok', 'wall-plain', 'down-503', 'down-500']) {
      const before = upstream.requests.length;
      await gatewayAt(proxy, proxy.masterKey).chat(chatRequest(model));
      expect(upstream.requests.length - before).toBe(1);
    }
  });

  it('keeps an agent from a model of others by any path, field or form', async () => {
    const { proxy, upstream } = scenario();
    const messages = [{ role: 'user', content: 'hi' }];
    const headers = {
      authorization: `Bearer ${agentKeys.adolf}`,
      'content-type': 'application/json',
    };
    const bodies: [path: string, body: object][] = [
      ['/v1/chat/completions', { model: 'ok', fallbacks: ['wall-plain'], messages }],
      ['/v1/responses', { model: 'wall-plain', input: 'hi' }],
      ['/v1/messages', { model: 'wall-plain', max_tokens: 5, messages }],
      ['/engines/wall-plain/chat/completions', { messages }],
      ['/openai/deployments/wall-plain/chat/completions', { messages }],
    ];
    const before = upstream.requests.length;
    for (const [path, body] of bodies) {
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(proxy.url + path, init);
      expect([path, response.status]).toEqual([path, 403]);
    }
    const form = new FormData();
    form.append('model', 'wall-plain');
    const init = { method: 'POST', headers: { authorization: headers.authorization }, body: form };
    expect((await fetch(`${proxy.url}/v1/audio/transcriptions`, init)).status).toBe(403);
    expect(upstream.requests.length).toBe(before);
  });

  it('says when a deployment’s budget is spent, and when a group rests', async () => {
    const { proxy } = scenario();
    const client = gatewayAt(proxy, proxy.masterKey);
    await expect
      .poll(() => client.chat(chatRequest('dear')), { timeout: 20_000, interval: 500 })
      .toMatchObject({ ok: false, class: 'budget-spent' });
    await expect
      .poll(() => client.chat(chatRequest('cooled')), { timeout: 20_000, interval: 500 })
      .toMatchObject({ ok: false, class: 'cooldown', notSent: true });
  });
}
