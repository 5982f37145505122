import { expect, it } from 'vitest';
import { modelRuntime } from '../../../agents/runtimes/model.ts';
import { Card } from '../../../cards/schema/card.ts';
import type { RunEnd } from '../../../fabric/ports/run-task.ts';
import { systemClock } from '../../../fabric/telemetry/system-clock.ts';
import { cardFields } from '../../support/card-yaml.ts';
import { gatewayAt } from '../../support/gateway-contract.ts';
import { agentKeys } from '../../support/litellm-scenario.ts';
import { modelDesk } from '../../support/model-desk.ts';
import { recordedRun, runningState } from '../../support/task-run.ts';
import type { Scenario } from './scenario.ts';

const adolf = Card.parse(cardFields());
const modelCard = (gateway: string): Card =>
  Card.parse(
    cardFields({
      ...{ id: 'kimi', name: 'Kimi', persona: undefined, needs: undefined, tier: 'large' },
      model: { gateway, contextTokens: 8_000 },
    }),
  );

/** A model persona through the proxy, with its own key; the last of these tests stops the proxy. */
export function testModelPersona(scenario: () => Scenario): void {
  async function runOn(
    gatewayModel: string,
    key: string,
  ): Promise<{ end: RunEnd; chunks: string }> {
    const { deps } = modelDesk({
      cards: [adolf, modelCard(gatewayModel)],
      gateway: gatewayAt(scenario().proxy, key),
      clock: systemClock,
    });
    const run = recordedRun(runningState({ body: 'Say hello.' }));
    const end = await modelRuntime(adolf, deps)(run, new AbortController().signal);
    return { end, chunks: run.chunks.join('') };
  }

  it('answers, with its own key and what it took', async () => {
    const { end, chunks } = await runOn('ok', agentKeys.adolf);
    expect(chunks).toBe('hello from upstream');
    expect(end).toMatchObject({
      kind: 'done',
      outcome: {
        summary: 'hello from upstream',
        usage: { model: 'ok', inputTokens: 11, outputTokens: 7, turns: 1 },
      },
    });
    const { messages } = scenario().upstream.requests.at(-1)!.body as { messages: object[] };
    expect(messages[0]).toMatchObject({ role: 'system', content: 'You are adolf.' });
  });

  it.each([
    ['wall-iso', 'parked'],
    ['wall-402', 'parked'],
    ['long-prompt', 'failed'],
    ['bad-words', 'asked'],
    ['empty', 'failed'],
    ['down-503', 'failed'],
  ])('%s: %s', async (model, kind) => {
    const { end } = await runOn(model, scenario().proxy.masterKey);
    expect(end.kind).toBe(kind);
  });

  it('parks where its key may not call the model', async () => {
    const before = scenario().upstream.requests.length;
    const { end } = await runOn('ok', agentKeys.mute);
    expect(end).toMatchObject({ kind: 'parked', reason: expect.stringContaining('key') as string });
    expect(scenario().upstream.requests).toHaveLength(before);
  });

  it('parks with the reason when the proxy is gone', async () => {
    await scenario().proxy.stop();
    const { end } = await runOn('ok', agentKeys.adolf);
    expect(end).toMatchObject({
      kind: 'parked',
      reason: expect.stringContaining('the gateway does not answer') as string,
    });
  }, 60_000);
}
