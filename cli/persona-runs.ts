import { delimiter, dirname, join } from 'node:path';
import { issueRunToken } from '../agents/auth/run-token.ts';
import type { PrivateJwk } from '../agents/auth/sign.ts';
import { meshCaller } from '../agents/calls/mesh-caller.ts';
import { subprocessRunner } from '../agents/executors/subprocess.ts';
import { routeDryRun, type Foretell } from '../agents/runtimes/route-dry-run.ts';
import {
  routeNewTask,
  startRouting,
  type RouteTask,
  type Routing,
} from '../agents/runtimes/router.ts';
import { runtimeFor, unservedReason, type RuntimeDeps } from '../agents/runtimes/runtime.ts';
import { readAgentKey } from '../cards/registry/agent-key.ts';
import type { CardRegistry } from '../cards/registry/card-registry.ts';
import type { Card } from '../cards/schema/card.ts';
import type { AvailabilityProbe, CallerClass } from '../fabric/ports/availability.ts';
import type { RunTask } from '../fabric/ports/run-task.ts';
import type { Selection } from '../fabric/domain/task.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { heuristicClassifier } from '../router/classifier/heuristic-classifier.ts';
import { targetResolver } from '../router/resolve-target.ts';
import type { Environment } from './config.ts';
import type { HomePaths } from './home.ts';
import type { ModelPlane } from './model-plane.ts';

export interface PersonaRunsOptions {
  readonly paths: HomePaths;
  readonly environment: Environment;
  readonly registry: CardRegistry;
  readonly queue: QueueDeps;
  readonly models: ModelPlane;
  /** Where the other agents are served; undefined where this process knows of no front. */
  readonly publicUrl: () => string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** How this process's personas work and are chosen. */
export interface PersonaRuns {
  /** The router's a(t), and 0 for runtimes that this build does not serve. */
  readonly availability: AvailabilityProbe;
  /** Who would get a task; nothing is written. */
  readonly foretell: Foretell;
  /** Chooses an agent for a task without one. */
  readonly route: RouteTask;
  /** The tier that a text deserves. */
  readonly classify: (text: string, contextRefs: number) => Promise<Selection>;
  readonly runTaskFor: (card: Card) => RunTask | undefined;
  /** Values of the secrets that a run of this agent is given here. */
  readonly secretsOf: (agentId: string) => readonly string[];
  startRouting(): Routing;
}

export async function openPersonaRuns(options: PersonaRunsOptions): Promise<PersonaRuns> {
  const { registry, queue, models } = options;
  const { clock } = queue;
  const availability: AvailabilityProbe = {
    at(agentId, caller) {
      const runtime = registry.card(agentId)?.runtime;
      const reason = runtime && unservedReason(runtime);
      return reason
        ? { a: 0, reasons: [reason], outside: true }
        : models.availability.at(agentId, caller);
    },
  };
  const routerId = () =>
    queue.directory.agents().find(({ runtime }) => runtime === 'router')?.agentId;
  const classifier = heuristicClassifier();
  const resolver = targetResolver({
    availability: { snapshot: (caller) => servedSnapshot(models, registry, caller) },
    classifier,
    clock,
  });
  const routing = { ...queue, resolver, routerId: () => routerId() ?? 'router' };
  const deps = await runtimeDeps(options, routerId);
  return {
    availability,
    foretell: routeDryRun(resolver, queue.directory),
    route: routeNewTask(routing),
    async classify(text, contextRefs) {
      const { tier, source, reasons } = await classifier.classify({ text, contextRefs });
      return {
        source: 'router',
        tier,
        explain: `${source}: ${reasons.join('; ')}`.slice(0, 1_000),
      };
    },
    runTaskFor: (card) => runtimeFor(card, deps),
    secretsOf(agentId) {
      const names = registry.card(agentId)?.secrets ?? [];
      return names.map((name) => options.environment.all[name] ?? '');
    },
    startRouting() {
      const loop = startRouting(routing);
      // A Card that came or changed may be the one that a waiting task needs.
      const unfollow = registry.onChange(loop.wake);
      return {
        wake: loop.wake,
        stop: () => {
          unfollow();
          return loop.stop();
        },
      };
    },
  };
}

/** What cannot run here is no candidate: routing to it would only park the task behind a wall. */
function servedSnapshot({ availability }: ModelPlane, registry: CardRegistry, caller: CallerClass) {
  const snapshot = availability.snapshot(caller);
  const served = [...snapshot.candidates].filter(([agentId]) => {
    const runtime = registry.card(agentId)?.runtime;
    return runtime !== undefined && unservedReason(runtime) === undefined;
  });
  return { ...snapshot, candidates: new Map(served) };
}

async function runtimeDeps(
  { paths, environment, registry, queue, models, publicUrl, fetch }: PersonaRunsOptions,
  routerId: () => string | undefined,
): Promise<RuntimeDeps> {
  const { clock, random, log, board, artifacts, meshSecret } = queue;
  const keys = await openAgentKeys(paths, registry, queue);
  const calls = meshCaller({
    fetch,
    clock,
    keyOf: (agentId) => keys.get(agentId),
    urlOf(agentId) {
      const front = publicUrl();
      return front && registry.card(agentId) ? `${front}/agents/${agentId}/` : undefined;
    },
  });
  const { ledger, health, availability, gatewayOf } = models;
  const files = join(paths.home, 'files');
  return {
    ...{ clock, random, log, board, artifacts, ledger, health, calls, gatewayOf, routerId },
    persona: (agentId) => registry.current().persona(agentId),
    snapshot: (caller) => availability.snapshot(caller),
    fileRoots: [files],
    repositoryRoots: [files],
    environment: environment.all,
    runSubprocess: subprocessRunner({ clock }),
    runsFolder: join(paths.state, 'runs'),
    grants: {
      basicEnvironment: basicEnvironment(environment),
      variable: (name) => environment.all[name],
      meshUrl: publicUrl,
      issueRunToken: (run) => issueRunToken({ meshSecret, ...run }),
    },
  };
}

/** PATH with this Node first, so that a Card's `node` is the one the mesh runs on, and LANG. */
export function basicEnvironment({ all }: Environment): Readonly<Record<string, string>> {
  const { PATH = '', LANG } = all;
  return {
    PATH: [dirname(process.execPath), PATH].join(delimiter),
    ...(LANG === undefined ? {} : { LANG }),
  };
}

/** The private keys of this home's agents; read again whenever the Cards change. */
async function openAgentKeys(
  paths: HomePaths,
  registry: CardRegistry,
  { log }: QueueDeps,
): Promise<ReadonlyMap<string, PrivateJwk>> {
  const keys = new Map<string, PrivateJwk>();
  const load = async () => {
    for (const agentId of registry.current().cards.keys()) {
      const key = await readAgentKey(paths.state, agentId);
      if (key) keys.set(agentId, key);
    }
  };
  await load();
  registry.onChange(() => {
    load().catch((error: unknown) => {
      log.error('keys.unreadable', { reason: String(error) });
    });
  });
  return keys;
}
