import { expect, it } from 'vitest';
import type { ErrorClass } from '../../router/gateway/error-table.ts';
import type { ChatRequest, GatewayClient } from '../../router/gateway/gateway-client.ts';
import { openAiWireGateway } from '../../router/gateway/open-ai-wire.ts';
import { agentKeys } from './litellm-scenario.ts';
import { manualClock } from './manual-clock.ts';

export interface GatewayUnderTest {
  readonly url: string;
  readonly masterKey: string;
}

export function gatewayAt({ url }: GatewayUnderTest, apiKey: string): GatewayClient {
  // Real time, as the other side's instants are real; it does not move by itself, which bounds nothing here.
  const clock = manualClock(Date.now());
  return openAiWireGateway({
    baseUrl: url,
    apiKey,
    kind: 'litellm',
    fetch,
    clock,
    probeTimeoutMs: 20_000,
  });
}

export const chatRequest = (model: string): ChatRequest => ({
  model,
  messages: [{ role: 'user', content: 'hi' }],
  origin: { agentId: 'adolf', taskId: 'a'.repeat(32), queue: 'adolf', contextId: 'family-1' },
  timeoutMs: 30_000,
});

/** What every gateway does, the recorded one and the real one: so that the fake can be believed. */
export function gatewayContract(under: () => GatewayUnderTest): void {
  const master = () => gatewayAt(under(), under().masterKey);

  it('answers a chat with text, usage and who served it', async () => {
    const answer = await master().chat(chatRequest('ok'));
    expect(answer).toMatchObject({
      ok: true,
      text: 'hello from upstream',
      finish: 'stop',
      toolCalls: [],
      usage: { promptTokens: 11, completionTokens: 7 },
      servedBy: { deploymentId: 'dep-ok', modelGroup: 'ok', attemptedFallbacks: 0, costUsd: 0 },
    });
  });

  it('hands over tool calls', async () => {
    const answer = await master().chat(chatRequest('tool'));
    const toolCalls = [{ id: 'call_1', name: 'look', arguments: '{"q":1}' }];
    expect(answer).toMatchObject({ ok: true, toolCalls, finish: 'tool_calls' });
  });

  it('streams the same text in pieces, with usage at the end', async () => {
    const pieces: string[] = [];
    const answer = await master().chatStream(chatRequest('ok'), (piece) => pieces.push(piece));
    expect(answer).toMatchObject({
      ok: true,
      text: 'hello from upstream',
      usage: { promptTokens: 11, completionTokens: 7 },
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('hello from upstream');
  });

  it.each(['broken', 'cut'])('never takes a %s stream for a short answer', async (model) => {
    const answer = await master().chatStream(chatRequest(model), () => undefined);
    expect(answer).toMatchObject({ ok: false, class: 'transient', notSent: false });
  });

  it('embeds each input, in order', async () => {
    const { origin, timeoutMs } = chatRequest('vectors');
    const answer = await master().embed({
      model: 'vectors',
      input: ['one', 'two'],
      origin,
      timeoutMs,
    });
    const vector = [0.25, 0.5, 0.75];
    expect(answer).toMatchObject({ ok: true, vectors: [vector, vector] });
  });

  it('lists models, their deployments, and lives', async () => {
    const listed = await master().listModels();
    expect(listed.ok && listed.items).toContain('wall-iso');
    const info = await master().modelInfo();
    expect(info.ok && info.items.find(({ name }) => name === 'ok')).toMatchObject({
      deploymentId: 'dep-ok',
      inputCostUsd: 0,
    });
    expect(await master().health()).toEqual({ ok: true });
  });

  it.each<[model: string, kind: ErrorClass, notSent: boolean]>([
    ['no-such-model', 'config', true],
    ['long-prompt', 'too-long', false],
    ['bad-words', 'refused', false],
    ['wall-plain', 'provider-429', false],
    ['wall-400', 'quota-spent', false],
    ['wall-402', 'quota-spent', false],
    ['bad-key', 'auth', false],
    ['down-500', 'transient', false],
    ['down-503', 'transient', false],
    ['down-529', 'transient', false],
    ['silent', 'transient', false],
    ['empty', 'transient', false],
    ['unreachable', 'transient', false],
  ])('%s is a failure of class %s, in our own words', async (model, kind, notSent) => {
    const answer = await master().chat(chatRequest(model));
    expect(answer).toMatchObject({ ok: false, class: kind, notSent });
    if (answer.ok) return;
    expect(answer.message).toContain(model);
    expect(answer.message).not.toMatch(/Exception|litellm|overloaded|boom/i);
  });

  it('finds the provider’s reset in its words, on a stream too', async () => {
    const answer = await master().chatStream(chatRequest('wall-iso'), () => undefined);
    expect(answer).toMatchObject({ ok: false, class: 'provider-429', retry: 'backoff' });
    expect(!answer.ok && answer.resetAtMs).toBeGreaterThan(Date.now());
  });

  it('lets an agent’s key call its models and nothing else', async () => {
    const adolf = gatewayAt(under(), agentKeys.adolf);
    expect(await adolf.chat(chatRequest('ok'))).toMatchObject({ ok: true });
    expect(await adolf.chat(chatRequest('wall-plain'))).toMatchObject({ ok: false, class: 'auth' });
    const mute = gatewayAt(under(), agentKeys.mute);
    expect(await mute.chat(chatRequest('ok'))).toMatchObject({ ok: false, class: 'auth' });
    const stranger = gatewayAt(under(), 'sk-mesh-unknown');
    expect(await stranger.chat(chatRequest('ok'))).toMatchObject({ ok: false, class: 'auth' });
  });

  it('names the end of the gateway’s own limit', async () => {
    const slow = gatewayAt(under(), agentKeys.slow);
    await slow.chat(chatRequest('ok'));
    const answer = await slow.chat(chatRequest('ok'));
    expect(answer).toMatchObject({ ok: false, class: 'gateway-limit', notSent: true });
    const inMs = answer.ok ? 0 : (answer.resetAtMs ?? 0) - Date.now();
    expect(inMs).toBeGreaterThan(0);
    expect(inMs).toBeLessThanOrEqual(61_000);
  });
}
