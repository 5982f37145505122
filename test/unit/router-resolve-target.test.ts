import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readCard } from '../../cards/schema/read-card.ts';
import { healthBook } from '../../router/availability/health-book.ts';
import { routerAvailability } from '../../router/availability/router-availability.ts';
import { candidatesFrom } from '../../router/candidates-from-cards.ts';
import { heuristicClassifier } from '../../router/classifier/heuristic-classifier.ts';
import { decide } from '../../router/decide.ts';
import type { RoutedTask } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { QuotaLedger } from '../../router/ledger/quota-ledger.ts';
import { targetResolver } from '../../router/resolve-target.ts';
import { Target } from '../../router/target.ts';
import { manualClock } from '../support/manual-clock.ts';

const clock = manualClock();
const catalog = join(import.meta.dirname, '../../cards/catalog');
const cards = readdirSync(catalog)
  .filter((name) => name.endsWith('.card.yaml'))
  .map((name) => readCard(name, readFileSync(join(catalog, name)), clock.nowMs()).card)
  .filter((card) => card !== undefined);

function mesh({ full = false } = {}) {
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const untilMs = clock.nowMs() + 3_600_000;
  const ledger = {
    availability: (windows: readonly unknown[]) =>
      full && windows.length > 0
        ? { a: 0, reasons: ['60 of 60 requests used in kimi/five-hours'], untilMs }
        : { a: 1, reasons: [] },
    uses: () => [],
  } as unknown as QuotaLedger;
  const candidates = candidatesFrom(cards);
  const availability = routerAvailability({
    agents: () => ({ commit: 'c0ffee', candidates }),
    gatewayConfigured: true,
    health: healthBook({ clock, log }),
    ledger,
    clock,
    budgets: () => new Map(),
    warm: () => new Set(),
  });
  const resolver = targetResolver({ availability, classifier: heuristicClassifier(), clock });
  const resolve = (
    target: unknown,
    text = '',
    task: Partial<Pick<RoutedTask, 'score' | 'deadlineMs' | 'barred'>> = {},
  ) =>
    resolver.resolve({
      target: Target.parse(target),
      text,
      task: { taskId: 't', submitterId: 'operator', caller: 'background', ...task },
    });
  return { resolve, availability, untilMs };
}

describe('targets on the shipped catalog', () => {
  it('pins a persona and finds its backbone', async () => {
    const { decision } = await mesh().resolve({ kind: 'agent', agentId: 'adolf' });
    expect(decision).toMatchObject({
      do: 'route',
      agentId: 'adolf',
      backbone: { modelAgentId: 'kimi', gatewayModel: 'kimi' },
    });
    expect(sentence(decision)).toBe('Agent adolf (tier large by its card): goes to adolf on kimi.');
  });

  it.each([
    [1, 'local-small'],
    [2, 'local-small'],
    [3, 'kimi'],
    [5, 'kimi'],
    [8, 'kimi'],
    [13, 'kimi'],
    [21, 'kimi'],
  ])('score %i goes to %s', async (score, agentId) => {
    const { decision, classification } = await mesh().resolve({ kind: 'auto' }, 'prove it', {
      score,
    });
    expect(decision).toMatchObject({ do: 'route', agentId });
    expect(classification).toBeUndefined();
  });

  it('passes over whom the submitter may not call, and says so where nobody is left', async () => {
    const score = 8;
    const [no, yes] = ['may not call it', { do: 'route', agentId: 'kimi' }];
    const open = new Map([['local-small', no]]);
    const one = await mesh().resolve({ kind: 'auto' }, '', { score, barred: open });
    expect(one.decision).toMatchObject(yes);
    const barred = new Map(cards.map(({ id }) => [id as string, `${id} ${no}`]));
    for (const target of [
      { kind: 'auto' },
      { kind: 'agent', agentId: 'adolf' },
      { kind: 'constraints', need: { caps: ['audit'] } },
    ]) {
      const { decision } = await mesh().resolve(target, '', { score, barred });
      expect(decision).toMatchObject({ do: 'reject', why: 'noCandidate' });
      expect(sentence(decision)).toContain(no);
    }
    // A backbone is not called: the persona that was asked answers for it.
    const served = new Map([['kimi', no]]);
    const adolf = { kind: 'agent', agentId: 'adolf' };
    const backed = await mesh().resolve(adolf, '', { barred: served });
    expect(backed.decision).toMatchObject({ do: 'route', backbone: { modelAgentId: 'kimi' } });
  });

  it('classifies where nobody rated it', async () => {
    const easy = await mesh().resolve({ kind: 'auto' }, 'what is the capital of Portugal?');
    expect(easy.decision).toMatchObject({ do: 'route', agentId: 'local-small' });
    expect(easy.decision.explain.tierSource).toBe('classifier:heuristic');
    const hard = await mesh().resolve(
      { kind: 'auto' },
      'design a distributed queue and prove it safe',
    );
    expect(hard.decision).toMatchObject({ do: 'route', agentId: 'kimi' });
  });

  it('finds an agent by its skill, and a program that needs no model', async () => {
    const bySkill = await mesh().resolve({ kind: 'constraints', need: { caps: ['audit'] } });
    expect(bySkill.decision).toMatchObject({ do: 'route', agentId: 'adolf' });
    const bot = await mesh().resolve({ kind: 'agent', agentId: 'link-checker' });
    expect(bot.decision).toMatchObject({ do: 'route', agentId: 'link-checker' });
    expect(bot.decision).not.toHaveProperty('backbone');
  });

  it('parks on a spent quota, and says at once when that is past the deadline', async () => {
    const { resolve, untilMs, availability } = mesh({ full: true });
    const parked = await resolve({ kind: 'agent', agentId: 'adolf' });
    expect(parked.decision).toMatchObject({ do: 'park', untilMs });
    expect(sentence(parked.decision)).toContain('60 of 60 requests');
    expect(availability.at('adolf')).toMatchObject({ a: 0, untilMs });
    const late = await resolve({ kind: 'agent', agentId: 'adolf' }, '', {
      deadlineMs: untilMs - 1,
    });
    expect(late.decision).toMatchObject({ do: 'reject', why: 'deadlineBeforeFree' });
    const other = await resolve({ kind: 'auto' }, '', { score: 1 });
    expect(other.decision).toMatchObject({ do: 'route', agentId: 'local-small' });
  });

  it('refuses an unknown agent, and a need that nobody has', async () => {
    const nobody = await mesh().resolve({ kind: 'agent', agentId: 'nobody' });
    expect(nobody.decision).toMatchObject({ do: 'reject', why: 'unknownAgent' });
    const huge = await mesh().resolve({
      kind: 'constraints',
      need: { tier: 'small', minContext: 10_000_000 },
    });
    expect(huge.decision).toMatchObject({ do: 'reject', why: 'noCandidate' });
    const unrated = await mesh().resolve({ kind: 'constraints', need: { tools: true } });
    expect(unrated.decision).toMatchObject({ do: 'reject', why: 'needsScore' });
  });

  it('decides some ten thousand times a second', () => {
    const snapshot = mesh().availability.snapshot('background');
    const target = Target.parse({ kind: 'auto' });
    const task = { taskId: 't', submitterId: 'operator', caller: 'background', score: 8 } as const;
    const rounds = 5_000;
    const startMs = performance.now();
    for (let round = 0; round < rounds; round += 1) decide(task, target, snapshot, clock.nowMs());
    const perSecond = (rounds / (performance.now() - startMs)) * 1_000;
    // A tenth of the goal, for machines with other work: it finds what got slow by its kind, not by its moment.
    expect(perSecond).toBeGreaterThan(1_000);
  });
});

describe('the LiteLLM configuration that we ship', () => {
  const text = readFileSync(join(import.meta.dirname, '../../deploy/litellm/config.yaml'), 'utf8');
  const Config = z.looseObject({
    model_list: z.array(
      z.looseObject({ model_name: z.string(), model_info: z.looseObject({ id: z.string() }) }),
    ),
    router_settings: z.looseObject({ num_retries: z.literal(0), fallbacks: z.tuple([]) }),
  });
  const config = Config.parse(parse(text));

  it('falls back to nothing, and serves nothing that costs money', () => {
    expect(config.router_settings).not.toHaveProperty('context_window_fallbacks');
    expect(config).not.toHaveProperty('litellm_settings.default_fallbacks');
    expect(config.model_list.filter(({ model_name: name }) => name.startsWith('paid/'))).toEqual(
      [],
    );
  });

  it('has every name that a shipped model agent uses', () => {
    const names = config.model_list.map(({ model_name: name }) => name);
    for (const card of cards) if (card.model) expect(names).toContain(card.model.gateway);
  });
});
