import { describe, expect, it } from 'vitest';
import { healthBook } from '../../router/availability/health-book.ts';
import type {
  ChatAnswer,
  CallFailure,
  GatewayClient,
} from '../../router/gateway/gateway-client.ts';
import type { QuotaLedger } from '../../router/ledger/quota-ledger.ts';
import { callModel } from '../../router/model-call.ts';
import type { ModelCandidate } from '../../router/model-candidate.ts';
import { chatRequest } from '../support/gateway-contract.ts';
import { manualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const good: ChatAnswer = {
  ok: true,
  text: 'hello',
  toolCalls: [],
  finish: 'stop',
  usage: { promptTokens: 11, completionTokens: 7 },
  servedBy: { attemptedFallbacks: 0, costUsd: 0 },
};
const failure = (over: Partial<CallFailure>): CallFailure => ({
  ok: false,
  class: 'transient',
  message: 'The call to tier/large failed.',
  retry: 'backoff',
  notSent: false,
  ...over,
});

const plain: ModelCandidate = {
  kind: 'model',
  agentId: 'kimi',
  trust: 'trusted',
  caps: [],
  optInMetered: [],
  gatewayModel: 'tier/large',
  tier: 'large',
  cost: 'flat-quota',
  contextTokens: 100_000,
  tools: true,
  modality: ['text'],
  windows: [],
  maxParallel: 1,
  rank: 0,
  deploymentIds: [],
};
const quota: ModelCandidate = {
  ...plain,
  windows: [
    {
      id: '5h',
      scope: 'kimi',
      unit: 'request',
      cap: 60,
      reserveInteractive: 0.25,
      shape: { kind: 'sliding', lengthMs: 18_000_000 },
    },
  ],
};

function setup(answers: readonly (ChatAnswer | CallFailure)[]) {
  const clock = manualClock();
  const events: string[] = [];
  const errors: string[] = [];
  const quiet = () => undefined;
  const log = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (event: string) => void errors.push(event),
  };
  const health = healthBook({ clock, log });
  let spent = false;
  const ledger: QuotaLedger = {
    availability: () => ({ a: 1, reasons: [] }),
    uses: (windows) => windows.map((window) => ({ window, used: 3 })),
    reserve: () => {
      if (spent) return { kind: 'spent', availability: { a: 0, reasons: ['full'], untilMs: 99 } };
      events.push('reserve');
      return { kind: 'reserved', lease: { leaseId: 'l', scope: 'kimi', atMs: 0 } };
    },
    commit: (_, tokens) => void events.push(`commit ${String(tokens)}`),
    release: () => void events.push('release'),
    markSpent: (_, untilMs) => {
      events.push('spent');
      return untilMs ?? 77;
    },
    clearSpent: quiet,
    recordExternal: quiet,
    prune: quiet,
    close: quiet,
  };
  const queue = [...answers];
  const chat = () => {
    events.push('call');
    const next = queue.shift();
    if (next === undefined) throw new Error('called once too often');
    return Promise.resolve(next);
  };
  const gateway = { chat } as unknown as GatewayClient;
  const run = async (model: ModelCandidate) => {
    const call = {
      model,
      gateway,
      request: chatRequest('unused'),
      caller: 'background',
      estimatedTokens: 500,
    } as const;
    const deps = { ledger, health, clock, random: seededRandom(1) };
    const pending = callModel(deps, call, new AbortController().signal);
    for (let step = 0; step < 6; step += 1) await clock.advance(60_000);
    return pending;
  };
  return { run, events, errors, health, fill: () => (spent = true) };
}

describe('callModel', () => {
  it('reserves before it calls, and commits what was counted', async () => {
    const { run, events } = setup([good]);
    expect(await run(quota)).toMatchObject({ ok: true, text: 'hello' });
    expect(events).toEqual(['reserve', 'call', 'commit 18']);
  });

  it('does not call where nothing is left', async () => {
    const { run, events, fill } = setup([]);
    fill();
    expect(await run(quota)).toMatchObject({ ok: false, class: 'wall', untilMs: 99 });
    expect(events).toEqual([]);
  });

  it('takes a provider’s 429 for a quota wall only where the Card has windows', async () => {
    const wall = failure({ class: 'provider-429', resetAtMs: 5_000 });
    const first = setup([wall]);
    expect(await first.run(quota)).toMatchObject({ class: 'wall', untilMs: 5_000 });
    expect(first.events).toEqual(['reserve', 'call', 'commit undefined', 'spent']);
    const second = setup([wall, wall, good]);
    expect(await second.run(plain)).toMatchObject({ ok: true });
    expect(second.events.filter((event) => event === 'call')).toHaveLength(3);
  });

  it('tries a transient failure twice more, then lets the model rest', async () => {
    const { run, events, health } = setup([failure({}), failure({}), failure({})]);
    expect(health.term('kimi')).toEqual({ a: 1 });
    expect(await run(plain)).toMatchObject({ ok: false, class: 'transient' });
    expect(events.filter((event) => event === 'call')).toHaveLength(3);
  });

  it('gives a unit back only where nothing was sent', async () => {
    const down = setup([
      failure({ class: 'cooldown', retry: 'never', notSent: true, resetAtMs: 9 }),
    ]);
    expect(await down.run(quota)).toMatchObject({ class: 'wall', untilMs: 9 });
    expect(down.events).toEqual(['reserve', 'call', 'release']);
    const long = setup([failure({ class: 'too-long', retry: 'never' })]);
    expect(await long.run(quota)).toMatchObject({ class: 'too-long' });
    expect(long.events).toEqual(['reserve', 'call', 'commit undefined']);
  });

  it('reports a fallback, a foreign deployment and a price that nobody agreed to', async () => {
    const servedBy = { attemptedFallbacks: 1, deploymentId: 'paid', costUsd: 0.02 };
    const { run, errors, health } = setup([{ ...good, servedBy }]);
    expect(await run({ ...plain, deploymentIds: ['kimi-sub'] })).toMatchObject({ ok: true });
    expect(errors).toEqual(['gateway.incident', 'gateway.incident', 'gateway.incident']);
    expect(health.term('kimi')).toMatchObject({ a: 0 });
  });
});
