import { setMaxListeners } from 'node:events';
import type { Hono } from 'hono';
import { createAuthenticate } from '../agents/auth/authenticate.ts';
import { tokenStore } from '../agents/auth/token-store.ts';
import { faultReporter } from '../agents/a2a/error-table.ts';
import { createTaskActors } from '../agents/a2a/task-actors.ts';
import { inboxSessions } from '../agents/human/inbox-sessions.ts';
import { createPersonaService } from '../agents/service.ts';
import { openCardRegistry, type CardRegistry } from '../cards/registry/card-registry.ts';
import { PrincipalId } from '../fabric/domain/ids.ts';
import { scopes, type Principal, type Scope } from '../fabric/domain/principal.ts';
import { openEmbeddedBoard } from '../fabric/embedded/embedded-board.ts';
import { fileArtifacts } from '../fabric/embedded/file-artifacts.ts';
import { processLiveness } from '../fabric/embedded/process-liveness.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Directory } from '../fabric/ports/directory.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { createSlots } from '../fabric/queue/slots.ts';
import { startKeeper } from '../keeper/keeper.ts';
import { queueMetrics } from '../keeper/metrics.ts';
import { besideDatabase } from './beside-database.ts';
import type { Environment, MeshConfig } from './config.ts';
import { createFront, listAgents, type AgentListing } from './front.ts';
import type { HomePaths } from './home.ts';
import { openModelPlane } from './model-plane.ts';
import { openPersonas, type Personas } from './personas.ts';
import { openPersonaRuns } from './persona-runs.ts';
import { loadMeshSecret, operatorToken } from './secrets.ts';
import { strayRunEnder } from './stray-runs.ts';

export interface ComposeOptions {
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The front's address, once it is known; Agent Cards name it. */
  readonly publicUrl: () => string;
  /** Where the mesh calls its own agents: its own front, with or without a socket. */
  readonly fetch: typeof globalThis.fetch;
  /** Another mesh's board instead of the home's own. */
  readonly board?: TaskBoard;
  /** Default: every registered agent. */
  readonly serves?: (agentId: string) => boolean;
  /** Where clients reach a persona, as its Agent Card says; default: below the front. */
  readonly addressOf?: (agentId: string) => string;
}

/** A mesh, wired; nothing is drained and no time is kept before `start`. */
export interface Mesh {
  readonly front: Hono;
  readonly board: TaskBoard;
  readonly registry: CardRegistry;
  readonly queue: QueueDeps;
  /** The operator's own credential. */
  readonly token: string;
  readonly agents: () => readonly AgentListing[];
  readonly serviceOf: (agentId: string) => Hono | undefined;
  /** Starts workers and, unless told otherwise, a keeper. */
  start(what?: { readonly keeper: boolean }): void;
  /** Runs are handed back or recorded, then everything is closed. */
  stop(): Promise<void>;
}

/** What lasts: this process's name, the board, the Cards, and the use cases over them. */
async function openGround(options: ComposeOptions) {
  const { paths, config, environment, clock, random, log } = options;
  const incarnation = random.hex(8);
  const liveness = await processLiveness({ folder: paths.procs, incarnation, clock });
  // A process beside the owner of the home keeps only its own streams, in a file of its own.
  const beside = options.board && (await besideDatabase(paths.beside, liveness));
  const own = await openEmbeddedBoard({ path: beside?.path ?? paths.database, clock, log });
  const board = options.board ?? own;
  const { branch, remote, fetch: fetchMs } = config.registry;
  const registry = await openCardRegistry({
    ...{ home: paths.home, stateDir: paths.state, branch, fetchMs, clock, log },
    ...(remote === undefined ? {} : { remote }),
    defaultHuman: () => config.defaultHuman,
    environment: environment.all,
  });
  const queue: QueueDeps = {
    ...{ board, clock, random, log },
    directory: registry.directory(),
    artifacts: fileArtifacts({ folder: paths.artifacts }),
    meshSecret: await loadMeshSecret(paths, environment),
  };
  const close = async () => {
    await registry.close();
    if (board !== own) await board.close();
    await own.close();
    await beside?.remove();
    liveness.release();
  };
  return { liveness, incarnation, board, journal: own.journal, registry, queue, close };
}

/** Who may call: the credentials that this home knows, and the operator's own. */
async function openCredentials(
  { paths, config, clock, random }: ComposeOptions,
  { registry, board, queue }: Awaited<ReturnType<typeof openGround>>,
) {
  const tokens = tokenStore({ path: paths.tokens, clock, random });
  const token = await operatorToken(paths, tokens, config.defaultHuman);
  const { meshSecret } = queue;
  const authenticate = createAuthenticate({ registry, tokens, board, meshSecret, clock });
  return { token, authenticate };
}

/** Builds a mesh from its parts: the one place where adapters meet use cases. */
export async function composeMesh(options: ComposeOptions): Promise<Mesh> {
  const { config, clock, random, log, publicUrl } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every run and stream of the process listens to it; that is no leak.
  setMaxListeners(0, signal);
  const ground = await openGround(options);
  const { board, registry, queue, incarnation, liveness, journal } = ground;
  const { token, authenticate } = await openCredentials(options, ground);
  const { gatewayUrl } = config;
  const models = await openModelPlane({ ...options, registry, gatewayUrl, stopping: signal });
  const runs = await openPersonaRuns({ ...options, registry, queue, models });
  const { availability } = runs;
  const actors = createTaskActors({ queue, journal, incarnation, stopping: signal });
  const shared = { registry, queue, actors, availability, slots: createSlots(), incarnation };
  const { route, classify, foretell } = runs;
  const personas: Personas = openPersonas({
    ...shared,
    serves: options.serves ?? (() => true),
    runTaskFor: runs.runTaskFor,
    serviceFor: (agentId) =>
      createPersonaService({
        ...{ ...shared, agentId, personas, authenticate, stopping: signal },
        publicUrl: () => options.addressOf?.(agentId) ?? `${publicUrl()}/agents/${agentId}/`,
        ...(queue.directory.agent(agentId)?.runtime === 'router'
          ? { route, classify, foretell }
          : {}),
      }),
  });
  const metrics = queueMetrics(board, clock);
  const front = createFront({
    ...{ queue, registry, availability, authenticate, publicUrl },
    faults: faultReporter(log, random),
    sessions: inboxSessions({ clock, random }),
    personOf: (id) => personOf(queue.directory, id),
    metrics: () => metrics.text(),
    serviceOf: personas.serviceOf,
  });
  const daemons: { stop(): Promise<void> }[] = [];
  return {
    ...{ front, board, registry, queue, token },
    agents: () => listAgents({ registry, availability, publicUrl }),
    serviceOf: personas.serviceOf,
    start({ keeper } = { keeper: true }) {
      personas.startWorkers();
      daemons.push(runs.startRouting());
      const endRun = strayRunEnder({ clock, log });
      if (keeper) daemons.push(startKeeper(queue, { liveness, endRun }));
    },
    async stop() {
      stopping.abort();
      await personas.stop();
      await Promise.all(daemons.map((daemon) => daemon.stop()));
      actors.close();
      await models.close();
      await ground.close();
    },
  };
}

const personScopes: readonly Scope[] = scopes.filter(
  (scope) => scope !== 'admin' && scope !== 'tasks:work' && scope !== 'tasks:read-all',
);

/** A person as the inbox page knows them: their own tasks, nobody else's. */
function personOf(directory: Directory, id: PrincipalId): Principal | undefined {
  const policy = directory.agent(id);
  if (policy?.trust !== 'human') return undefined;
  return {
    id: PrincipalId.parse(id),
    role: 'human',
    trust: 'human',
    scopes: new Set(personScopes),
  };
}
