import type { Card, Runtime } from '../../cards/schema/card.ts';
import type { RunTask } from '../../fabric/ports/run-task.ts';
import { humanRuntime } from './human.ts';
import { modelRuntime, type ModelRuntimeDeps } from './model.ts';
import { rehearsalRuntime, type RehearsalDeps } from './rehearsal.ts';
import { runnerRuntime, type RunnerDeps } from './runner.ts';

export type RuntimeDeps = ModelRuntimeDeps & RehearsalDeps & RunnerDeps;

/**
 * How the agent of `card` works. Undefined for one that has no runs here: the router, which decides and
 * relays (`startRouting`), and what `unservedReason` names.
 */
export function runtimeFor(card: Card, deps: RuntimeDeps): RunTask | undefined {
  switch (card.runtime) {
    case 'model':
      return modelRuntime(card, deps);
    case 'rehearsal':
      return rehearsalRuntime(card, deps);
    case 'human':
      return humanRuntime(card);
    case 'runner':
      return card.runner && runnerRuntime(card, card.runner, deps);
    case 'router':
    case 'executor':
    case 'observer':
    case 'planner':
    case 'reviewer':
      return undefined;
  }
}

const servedRuntimes: ReadonlySet<Runtime> = new Set<Runtime>([
  'model',
  'rehearsal',
  'human',
  'runner',
  'router',
]);

/** Why an agent of this runtime is never available in this build; undefined for those that are served. */
export function unservedReason(runtime: Runtime): string | undefined {
  return servedRuntimes.has(runtime) ? undefined : `runtime ${runtime} is not served by this build`;
}
