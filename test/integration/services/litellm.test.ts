import { afterAll, beforeAll, expect, it } from 'vitest';
import { startLiteLlm, type RunningLiteLlm } from '../../support/services/litellm.ts';
import { describeWith } from '../../support/services/service.ts';

const configYaml = `
model_list:
  - model_name: kimi
    litellm_params: {model: openai/kimi, api_base: http://127.0.0.1:9/v1, api_key: none, mock_response: hello}
`;

describeWith('litellm', 'the real LiteLLM proxy', ({ version }) => {
  let proxy: RunningLiteLlm;
  beforeAll(async () => {
    proxy = await startLiteLlm({ configYaml });
  }, 180_000);
  afterAll(() => proxy.stop());

  const ask = (key: string): Promise<Response> =>
    fetch(`${proxy.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'kimi', messages: [{ role: 'user', content: 'Hi' }] }),
    });

  it('answers a completion to the master key, as the pinned version', async () => {
    const response = await ask(proxy.masterKey);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-litellm-version')).toBe(version);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
  });

  it('refuses any other key', async () => {
    const { status } = await ask('sk-somebody-else');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });
});
