import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../router/decide.ts';
import type { RoutedTask, RouteDecision } from '../../router/decision.ts';
import { sentence } from '../../router/explain.ts';
import type { MeteredBudget } from '../../router/metered-grant.ts';
import type { Candidate } from '../../router/model-candidate.ts';
import type { RouterSnapshot } from '../../router/router-snapshot.ts';
import { Target } from '../../router/target.ts';
import { tierRank } from '../../router/tier.ts';

const nowMs = Date.UTC(2026, 10, 30, 12);
const tier = fc.constantFrom('small', 'medium', 'large', 'reasoning');
const cost = fc.constantFrom('free-local', 'flat-quota', 'metered');
const trust = fc.constantFrom('human', 'trusted', 'sandboxed', 'untrusted');
const modelIds = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
const personaIds = ['p0', 'p1', 'p2'];
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const need = fc.record(
  {
    tier,
    tierAtLeast: tier,
    tools: fc.boolean(),
    minContext: fc.constantFrom(1_000, 100_000),
    cost: fc.uniqueArray(cost, { minLength: 1 }),
    trust,
    caps: fc.constant(['audit']),
  },
  { requiredKeys: [] },
);
const shared = {
  trust,
  caps: fc.subarray(['audit', 'json']),
  optInMetered: fc.oneof(fc.constant(modelIds), fc.subarray(modelIds)),
};
const model = (agentId: string): fc.Arbitrary<Candidate> =>
  fc.record({
    ...shared,
    kind: fc.constant('model' as const),
    agentId: fc.constant(agentId),
    gatewayModel: fc.constant(`gw/${agentId}`),
    tier,
    cost,
    contextTokens: fc.constantFrom(8_000, 200_000),
    tools: fc.boolean(),
    modality: fc.constant(['text' as const]),
    windows: fc.constant([]),
    maxParallel: fc.constant(1),
    rank: fc.integer({ min: 0, max: 1 }),
    deploymentIds: fc.constant([]),
  });
const persona = (agentId: string): fc.Arbitrary<Candidate> =>
  fc.record({
    ...shared,
    kind: fc.constant('persona' as const),
    agentId: fc.constant(agentId),
    need,
  });
const fixed: fc.Arbitrary<Candidate> = fc.record({
  ...shared,
  kind: fc.constant('fixed' as const),
  agentId: fc.constant('x0'),
  cost,
});
const candidates = fc
  .tuple(fc.subarray(modelIds), fc.subarray(personaIds))
  .chain(([models, personas]) => fc.tuple(...models.map(model), ...personas.map(persona), fixed))
  .map((list) => new Map(list.map((one) => [one.agentId, one])));

const gatewayNames = modelIds.map((id) => `gw/${id}`);
const budget: fc.Arbitrary<MeteredBudget> = fc.record({
  keyAllows: fc.oneof(fc.constant(gatewayNames), fc.subarray(gatewayNames)),
  capUsd: fc.constant(10),
  spentUsd: fc.constantFrom(0, 9.99, 10, 12),
  resetsAtMs: fc.constant(nowMs + 3_600_000),
});
const unavailable = fc.record(
  {
    a: fc.constant(0 as const),
    reasons: fc.constant(['down']),
    untilMs: fc.constantFrom(nowMs + 1, nowMs + 60_000),
  },
  { requiredKeys: ['a', 'reasons'] },
);
const allIds = [...modelIds, ...personaIds, 'x0'];
const mapOver = <Value>(ids: readonly string[], value: fc.Arbitrary<Value>) =>
  fc
    .array(fc.tuple(fc.constantFrom(...ids), value), { maxLength: ids.length })
    .map((entries) => new Map(entries));
const snapshot: fc.Arbitrary<RouterSnapshot> = fc.record({
  commit: fc.constant('c0ffee'),
  candidates,
  availability: mapOver(allIds, unavailable),
  budgets: fc
    .record(Object.fromEntries(personaIds.map((id) => [id, budget])))
    .map((all) => new Map(Object.entries(all))),
  warm: fc.subarray(modelIds).map((ids) => new Set(ids)),
  pressure: mapOver(modelIds, fc.constantFrom(0, 0.5, 1)),
});
const target: fc.Arbitrary<Target> = fc
  .oneof(
    fc.constantFrom(...allIds, 'nobody').map((agentId) => ({ kind: 'agent', agentId })),
    need.map((wanted) => ({ kind: 'constraints', need: wanted })),
    fc.record({ kind: fc.constant('auto'), floor: optional(tier), ceiling: optional(tier) }),
  )
  .map((raw) => Target.parse(raw));
const task: fc.Arbitrary<RoutedTask> = fc.record(
  {
    taskId: fc.constantFrom('t1', 't2'),
    submitterId: fc.constantFrom(...personaIds, 'somebody'),
    caller: fc.constantFrom('interactive' as const, 'background' as const),
    score: fc.constantFrom(0, 1, 2, 3, 5, 8, 13, 21),
    deadlineMs: fc.constantFrom(nowMs + 10, nowMs + 10_000_000),
    need,
    verdict: fc.record({ tier, source: fc.constant('heuristic') }),
  },
  { requiredKeys: ['taskId', 'submitterId', 'caller'] },
);

function forAll(
  check: (decision: RouteDecision, input: Input) => void,
  shaped: (snapshot: RouterSnapshot) => RouterSnapshot = (same) => same,
): void {
  fc.assert(
    fc.property(task, target, snapshot.map(shaped), (aTask, aTarget, aSnapshot) => {
      const decision = decide(aTask, aTarget, aSnapshot, nowMs);
      check(decision, { task: aTask, target: aTarget, snapshot: aSnapshot });
    }),
    { numRuns: 1_000, seed: 20261130 },
  );
}
/** Little but money stands between a task and a model, so that grants are really given and refused. */
function moneyOnly(one: RouterSnapshot): RouterSnapshot {
  const candidates = [...one.candidates.values()].map((candidate): Candidate => {
    if (candidate.kind === 'persona') return { ...candidate, trust: 'human', need: {} };
    if (candidate.kind === 'fixed') return candidate;
    const cost = candidate.agentId < 'm4' ? 'metered' : candidate.cost;
    const able = {
      trust: 'human',
      tools: true,
      contextTokens: 200_000,
      tier: 'reasoning',
    } as const;
    return { ...candidate, ...able, cost };
  });
  const byId = new Map(candidates.map((candidate) => [candidate.agentId, candidate]));
  return { ...one, availability: new Map(), candidates: byId };
}

interface Input {
  readonly task: RoutedTask;
  readonly target: Target;
  readonly snapshot: RouterSnapshot;
}

describe('decide', { timeout: 60_000 }, () => {
  test('never calls a metered model without opt-in, key and an unspent budget', () => {
    let metered = 0;
    forAll((decision, { task: { submitterId }, snapshot: { candidates: all, budgets } }) => {
      if (decision.do !== 'route' || decision.backbone === undefined) return;
      const { modelAgentId, gatewayModel, cost: claimed } = decision.backbone;
      const chosen = all.get(modelAgentId);
      expect(chosen?.kind === 'model' && chosen.cost).toBe(claimed);
      if (claimed !== 'metered') return;
      metered += 1;
      const payerId = decision.agentId === modelAgentId ? submitterId : decision.agentId;
      expect(all.get(payerId)?.optInMetered).toContain(modelAgentId);
      const paid = budgets.get(payerId);
      expect(paid?.keyAllows).toContain(gatewayModel);
      expect(paid && paid.capUsd > paid.spentUsd).toBe(true);
      expect(decision.backbone.grant).toMatchObject({ agentId: payerId, modelAgentId });
    }, moneyOnly);
    expect(metered).toBeGreaterThan(15);
  });

  test('routes only to what is there, available and good enough', () => {
    forAll((decision, { snapshot: { candidates: all, availability }, target: aTarget }) => {
      if (decision.do !== 'route') return;
      expect(all.has(decision.agentId)).toBe(true);
      expect(availability.get(decision.agentId)?.a).not.toBe(0);
      if (aTarget.kind === 'agent') expect(decision.agentId).toBe(aTarget.agentId);
      const { backbone } = decision;
      if (backbone === undefined) return;
      expect(availability.get(backbone.modelAgentId)?.a).not.toBe(0);
      const chosen = all.get(backbone.modelAgentId);
      if (chosen?.kind !== 'model') throw new Error('a backbone is a model');
      const wanted = aTarget.kind === 'constraints' ? aTarget.need : {};
      if (decision.agentId === backbone.modelAgentId && wanted.tier !== undefined) {
        expect(tierRank(chosen.tier)).toBeGreaterThanOrEqual(tierRank(wanted.tier));
      }
      if (wanted.tools === true) expect(chosen.tools).toBe(true);
      expect(chosen.contextTokens).toBeGreaterThanOrEqual(wanted.minContext ?? 0);
    });
  });

  test('goes to nobody who is barred: to another, to a wait, or to a no that says why', () => {
    let [others, noes] = [0, 0];
    forAll((first, { task: aTask, target: aTarget, snapshot: aSnapshot }) => {
      if (first.do !== 'route') return;
      const barred = new Map([[first.agentId, 'may not be called']]);
      const next = decide({ ...aTask, barred }, aTarget, aSnapshot, nowMs);
      const verdict = next.explain.candidates.find(
        ({ agentId, serves }) => agentId === first.agentId && serves === undefined,
      );
      expect(verdict).toMatchObject({ verdict: 'filtered', reasons: ['may not be called'] });
      if (next.do === 'route') {
        others += 1;
        expect(next.agentId).not.toBe(first.agentId);
      }
      if (next.do !== 'reject' || next.why === 'needsScore') return;
      noes += 1;
      if (next.why === 'noCandidate') {
        expect(next.reasons.join()).toContain('may not be called');
      }
    });
    expect(others).toBeGreaterThan(20);
    expect(noes).toBeGreaterThan(20);
  });

  test('parks with the earliest instant that is known, and is the same each time', () => {
    let known = 0;
    forAll((decision, { task: aTask, target: aTarget, snapshot: aSnapshot }) => {
      const again = decide(
        aTask,
        aTarget,
        { ...aSnapshot, candidates: new Map(aSnapshot.candidates) },
        nowMs,
      );
      expect(again).toEqual(decision);
      expect(sentence(decision)).toMatch(/[.]$/);
      if (decision.do !== 'park') return;
      expect(decision.reasons.length).toBeGreaterThan(0);
      const instants = decision.explain.candidates
        .filter(({ verdict }) => verdict === 'unavailable')
        .flatMap(({ untilMs }) => untilMs ?? []);
      if (decision.untilMs === undefined) return;
      known += 1;
      expect(instants).toContain(decision.untilMs);
      expect(decision.untilMs).toBeGreaterThan(nowMs);
    });
    expect(known).toBeGreaterThan(20);
  });

  test('an unrated task without a verdict is asked about, never run on whatever is cheap', () => {
    forAll((decision, { task: aTask, target: aTarget }) => {
      const rated = (aTask.score ?? 0) > 0 || aTask.verdict !== undefined;
      const explicit = [aTask.need, aTarget.kind === 'constraints' ? aTarget.need : undefined].some(
        (one) =>
          one?.tier !== undefined || one?.tierAtLeast !== undefined || one?.caps !== undefined,
      );
      if (aTarget.kind === 'auto' && !rated && !explicit) {
        expect(decision).toMatchObject({ do: 'reject', why: 'needsScore' });
      }
    });
  });
});

describe('a task that nobody rated', () => {
  const scores = [1, 2, 3, 5, 8, 13, 21];

  test('is asked about only where a score may help, and refused only where none would', () => {
    fc.assert(
      fc.property(task, target, snapshot, (one, wanted, seen) => {
        const { score: _none, verdict: _unsaid, ...unrated } = one;
        const decision = decide(unrated, wanted, seen, nowMs);
        if (decision.do !== 'reject') return;
        const rated = scores.map((score) => decide({ ...unrated, score }, wanted, seen, nowMs));
        const fates = rated.map((after) => (after.do === 'reject' ? after.why : after.do));
        if (decision.why === 'noCandidate')
          expect(new Set(fates)).toEqual(new Set(['noCandidate']));
        if (decision.why === 'needsScore') expect(fates).not.toContain('needsScore');
      }),
      { numRuns: 2_000 },
    );
  });

  test('is refused with each reason once and the names of those it keeps out', () => {
    const barred = (id: string): Candidate => ({
      ...{ kind: 'fixed', agentId: id, cost: 'free-local', trust: 'trusted' },
      ...{ caps: [], optInMetered: [] },
    });
    const agents = ['a', 'b', 'c', 'd', 'e', 'f'].map(barred);
    const seen: RouterSnapshot = {
      ...{ commit: 'c0ffee', candidates: new Map(agents.map((one) => [one.agentId, one])) },
      ...{ availability: new Map(), budgets: new Map(), warm: new Set(), pressure: new Map() },
    };
    const wanted = Target.parse({ kind: 'constraints', need: { caps: ['nosuch'] } });
    const unrated: RoutedTask = { taskId: 't1', submitterId: 'alvis', caller: 'background' };
    expect(decide(unrated, wanted, seen, nowMs)).toMatchObject({
      ...{ do: 'reject', why: 'noCandidate', reasons: ['a, b, c, d and 2 more: has no nosuch'] },
    });
  });
});
