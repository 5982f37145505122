import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScenario, upstreamScripts } from '../../support/litellm-scenario.ts';
import { openAiUpstream } from '../../support/openai-upstream.ts';
import { describeWith } from '../../support/services/service.ts';
import { testGatewayClient } from './gateway-client.ts';
import { testModelPersona } from './model-persona.ts';
import type { Scenario } from './scenario.ts';

/** One proxy for all of them: it takes longer to start than all its tests. */
describeWith('litellm', 'A real LiteLLM proxy', ({ version }) => {
  let scenario: Scenario;
  beforeAll(async () => {
    const upstream = await openAiUpstream(upstreamScripts);
    scenario = { upstream, proxy: await startScenario(upstream.url) };
  }, 180_000);
  afterAll(async () => {
    await scenario.proxy.stop();
    await scenario.upstream.stop();
  });

  const ask = (key: string): Promise<Response> =>
    fetch(`${scenario.proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'Hi' }] }),
    });

  it('is the pinned version, and answers its master key', async () => {
    const response = await ask(scenario.proxy.masterKey);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-litellm-version')).toBe(version);
  });

  it('refuses a key that nobody knows', async () => {
    const { status } = await ask('sk-somebody-else');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  describe('before GatewayClient', () => {
    testGatewayClient(() => scenario);
  });

  // Last: it stops the proxy.
  describe('before a model persona', () => {
    testModelPersona(() => scenario);
  });
});
