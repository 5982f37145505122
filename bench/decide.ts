import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogFolder } from '../cards/registry/package-root.ts';
import { readCard } from '../cards/schema/read-card.ts';
import { systemClock } from '../fabric/telemetry/system-clock.ts';
import { candidatesFrom } from '../router/candidates-from-cards.ts';
import { decide } from '../router/decide.ts';
import type { RouterSnapshot } from '../router/router-snapshot.ts';
import type { Candidate } from '../router/model-candidate.ts';
import { Target } from '../router/target.ts';
import { figure, type BenchReport } from './figure.ts';

const runs = 5;
const rounds = 10_000;

/** Decisions a second of the router, on the shipped catalog and on one with many models. */
export function benchDecide(say: (text: string) => void): Promise<BenchReport> {
  const shipped = shippedCandidates();
  const many = withModels(shipped, 200);
  const targets = [
    ['auto, rated 8', Target.parse({ kind: 'auto' })],
    ['a pinned persona', Target.parse({ kind: 'agent', agentId: 'adolf' })],
    ['by skill', Target.parse({ kind: 'constraints', need: { caps: ['audit'] } })],
  ] as const;
  const figures = [shipped, many].flatMap((candidates) =>
    targets.map(([name, target]) => {
      const what = `decide: ${name}, ${candidates.size} candidates`;
      say(what);
      return figure(what, '1/s', decisionsPerSecond(candidates, target));
    }),
  );
  return Promise.resolve({ bench: 'decide', peers: {}, figures });
}

type Candidates = ReadonlyMap<string, Candidate>;

function decisionsPerSecond(candidates: Candidates, target: Target): number[] {
  const snapshot: RouterSnapshot = {
    ...{ commit: 'bench', candidates, availability: new Map(), budgets: new Map() },
    ...{ warm: new Set(), pressure: new Map() },
  };
  const task = { taskId: 't', submitterId: 'operator', caller: 'background', score: 8 } as const;
  const nowMs = systemClock.nowMs();
  const times = (count: number) => {
    for (let round = 0; round < count; round++) decide(task, target, snapshot, nowMs);
  };
  // Fewer of the slow ones, so that a run takes about as long.
  const count = Math.ceil((rounds * 20) / candidates.size);
  times(2 * count);
  return Array.from({ length: runs }, () => {
    const startMs = performance.now();
    times(count);
    return (count * 1_000) / (performance.now() - startMs);
  });
}

function shippedCandidates(): Candidates {
  const folder = catalogFolder();
  const cards = readdirSync(folder)
    .filter((name) => name.endsWith('.card.yaml'))
    .flatMap((name) => {
      const bytes = readFileSync(join(folder, name));
      return readCard(name, bytes, systemClock.nowMs()).card ?? [];
    });
  return candidatesFrom(cards);
}

/** The shipped ones, and `count` models like the first of theirs under names of their own. */
function withModels(shipped: Candidates, count: number): Candidates {
  const all = new Map(shipped);
  const model = [...shipped.values()].find(({ kind }) => kind === 'model');
  if (model === undefined) throw new Error('The catalog has no model agent to make more of.');
  for (let n = 0; n < count; n++) all.set(`model-${n}`, { ...model, agentId: `model-${n}` });
  return all;
}
