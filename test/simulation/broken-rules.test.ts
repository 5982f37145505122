import { describe, expect, it, vi } from 'vitest';
import { brokenRules, type BrokenRule } from './broken-rules.ts';
import { askedSeed, failureText, runEpisodes } from './many-episodes.ts';

/** The rule that is taken out now; the modules below look here at each call. */
const broken = vi.hoisted((): { now: BrokenRule } => ({ now: { rule: 'none' } }));

vi.mock(import('../../fabric/domain/transition.ts'), async (original) => {
  const real = await original();
  const transition: typeof real.transition = (before, event) =>
    (broken.now.transition?.(real.transition) ?? real.transition)(before, event);
  return { ...real, transition };
});

vi.mock(import('../../fabric/domain/access.ts'), async (original) => {
  const real = await original();
  const open = <T extends (...of: never[]) => boolean>(may: T) =>
    ((...of: Parameters<T>) => broken.now.isOpenToAll === true || may(...of)) as T;
  return { ...real, maySee: open(real.maySee), mayVerify: open(real.mayVerify) };
});

vi.mock(import('../../fabric/domain/limits.ts'), async (original) => {
  const real = await original();
  const limits = Object.create(real.limits, {
    spawnMarginMs: { get: () => broken.now.spawnMarginMs ?? real.limits.spawnMarginMs },
  }) as typeof real.limits;
  return { limits };
});

vi.mock(import('../../fabric/queue/lease.ts'), async (original) => {
  const real = await original();
  const keepLease: typeof real.keepLease = (deps, held) =>
    (broken.now.keepLease?.(real.keepLease) ?? real.keepLease)(deps, held);
  return { ...real, keepLease };
});

vi.mock(import('../../fabric/queue/claim.ts'), async (original) => {
  const real = await original();
  const startRun: typeof real.startRun = (deps, held) =>
    (broken.now.startRun ?? real.startRun)(deps, held);
  return { ...real, startRun };
});

vi.mock(import('../../keeper/leases.ts'), async (original) => {
  const real = await original();
  const createLeaseSweep: typeof real.createLeaseSweep = (deps, options) =>
    (broken.now.sweepOf ?? real.createLeaseSweep)(deps, options);
  return { ...real, createLeaseSweep };
});

const tasks = 200;
const cut = { tasks, isCutShort: true, firstSeed: askedSeed() ?? 1_001 };

describe('a mesh without one of its rules', () => {
  it('is well while it has them all', { timeout: 60_000 }, async () => {
    broken.now = { rule: 'none' };
    expect(failureText(await runEpisodes({ ...cut, claims: 500 }))).toBe('');
  });

  it.each(brokenRules)('is found out: $rule', { timeout: 120_000 }, async (rule) => {
    broken.now = rule;
    const { breaks = {} } = rule;
    const { failed, claims } = await runEpisodes({ ...cut, claims: 20_000, breaks });
    // A fault in the broken mesh itself would prove nothing about the judge.
    const breach = failed?.breaches.find(({ invariant }) => invariant !== 'FAULT');
    const found = breach ? `${breach.invariant}: ${breach.what}` : 'nothing';
    process.stdout.write(`without "${rule.rule}", after ${claims} claims: ${found}\n`);
    expect(breach).toBeDefined();
  });
});
