import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatRequest, gatewayAt, gatewayContract } from '../support/gateway-contract.ts';
import { startScenario, upstreamScripts } from '../support/litellm-scenario.ts';
import { openAiUpstream } from '../support/openai-upstream.ts';
import type { OpenAiUpstream } from '../support/openai-upstream.ts';
import type { RunningLiteLlm } from '../support/services/litellm.ts';
import { describeWith } from '../support/services/service.ts';

describeWith('litellm', 'GatewayClient on a real LiteLLM proxy', () => {
  let upstream: OpenAiUpstream;
  let proxy: RunningLiteLlm;
  beforeAll(async () => {
    upstream = await openAiUpstream(upstreamScripts);
    proxy = await startScenario(upstream.url);
  }, 150_000);
  afterAll(async () => {
    await proxy?.stop();
    await upstream?.stop();
  });

  describe('keeps the contract', () => {
    gatewayContract(() => proxy);
  });

  it('reaches the provider exactly once, also where it fails', async () => {
    for (const model of ['ok', 'wall-plain', 'down-503', 'down-500']) {
      const before = upstream.requests.length;
      await gatewayAt(proxy, proxy.masterKey).chat(chatRequest(model));
      expect(upstream.requests.length - before).toBe(1);
    }
  });

  it('says when a deployment’s budget is spent, and when a group rests', async () => {
    const client = gatewayAt(proxy, proxy.masterKey);
    await expect
      .poll(() => client.chat(chatRequest('dear')), { timeout: 20_000, interval: 500 })
      .toMatchObject({ ok: false, class: 'budget-spent' });
    await expect
      .poll(() => client.chat(chatRequest('cooled')), { timeout: 20_000, interval: 500 })
      .toMatchObject({ ok: false, class: 'cooldown', notSent: true });
  });
});
