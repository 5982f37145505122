import { setMaxListeners } from 'node:events';
import type { Hono } from 'hono';
import { createAuthenticate } from '../agents/auth/authenticate.ts';
import { tokenStore } from '../agents/auth/token-store.ts';
import { faultReporter } from '../agents/a2a/error-table.ts';
import { createProgressMeter } from '../agents/a2a/progress-meter.ts';
import { createRunsUnderWay, type RunsUnderWay } from '../agents/a2a/runs-under-way.ts';
import { createTaskActors } from '../agents/a2a/task-actors.ts';
import { inboxPeople } from '../agents/human/inbox-people.ts';
import { inboxSessions } from '../agents/human/inbox-sessions.ts';
import { createPersonaService } from '../agents/service.ts';
import { openCardRegistry, type CardRegistry } from '../cards/registry/card-registry.ts';
import { openEmbeddedBoard } from '../fabric/embedded/embedded-board.ts';
import { fileArtifacts } from '../fabric/embedded/file-artifacts.ts';
import { processLiveness } from '../fabric/embedded/process-liveness.ts';
import type { KanboardBoard } from '../fabric/kanboard/kanboard-board.ts';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Log } from '../fabric/ports/log.ts';
import type { Random } from '../fabric/ports/random.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { outageLog } from '../fabric/telemetry/outage-log.ts';
import { keepInboxes } from '../fabric/people/inbox/keep-inboxes.ts';
import { watchPeople } from '../fabric/people/watch-people.ts';
import { createSlots } from '../fabric/queue/slots.ts';
import { startKeeper } from '../keeper/keeper.ts';
import { queueMetrics } from '../keeper/metrics.ts';
import { besideDatabase } from './beside-database.ts';
import { closingOnFailure, type Closers } from './closers.ts';
import type { Environment, MeshConfig } from './config.ts';
import { createFront, listAgents, type AgentListing } from './front.ts';
import type { HomePaths } from './home.ts';
import type { KanboardAccess } from './kanboard-access.ts';
import { mirrorPath, openHomeKanboard, webhookOf } from './kanboard-home.ts';
import { openModelPlane, type ModelPlane } from './model-plane.ts';
import { openPersonas, type Personas } from './personas.ts';
import { openPersonaRuns, type PersonaRuns } from './persona-runs.ts';
import { openNotices } from './notices.ts';
import { loadMeshSecret, operatorToken } from './secrets.ts';
import { strayRunEnder } from './stray-runs.ts';

export interface ComposeOptions {
  readonly paths: HomePaths;
  readonly config: MeshConfig;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The front's address, once it is known; Agent Cards name it. Undefined where none serves the others. */
  readonly publicUrl: () => string | undefined;
  /** Where the mesh calls its own agents: its own front, with or without a socket. */
  readonly fetch: typeof globalThis.fetch;
  /** Another mesh's board instead of the home's own. */
  readonly board?: TaskBoard;
  /** The Kanboard that the home's tasks lie on; asked once the Cards are known, which say who may hold its token. */
  readonly kanboard?: (registry: CardRegistry) => Promise<KanboardAccess>;
  /** Another process has the home's databases open. */
  readonly isBeside?: boolean;
  /** Default: every registered agent. */
  readonly serves?: (agentId: string) => boolean;
  /** Where clients reach a persona, as its Agent Card says; default: below the front. */
  readonly addressOf?: (agentId: string) => string;
}

/** A mesh, wired; nothing is drained and no time is kept before `start`. */
export interface Mesh {
  readonly front: Hono;
  readonly board: TaskBoard;
  /** The same, where it lies on a Kanboard. */
  readonly kanboard: KanboardBoard | undefined;
  /** And what opens it. */
  readonly access: KanboardAccess | undefined;
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
async function openGround(options: ComposeOptions, closers: Closers) {
  const { paths, config, environment, clock, random, log } = options;
  const incarnation = random.hex(8);
  const liveness = await processLiveness({ folder: paths.procs, incarnation, clock });
  closers.add(() => {
    liveness.release();
  });
  const { branch, remote, fetch: fetchMs } = config.registry;
  const registry = await openCardRegistry({
    ...{ home: paths.home, stateDir: paths.state, branch, fetchMs, clock, log },
    ...(remote === undefined ? {} : { remote }),
    defaultHuman: () => config.defaultHuman,
    environment: environment.all,
  });
  closers.add(() => registry.close());
  const access = await options.kanboard?.(registry);
  closers.add(() => access?.own?.stop());
  // A process beside the owner of the home keeps only its own streams, in a file of its own.
  const isBeside = options.board !== undefined || options.isBeside === true;
  const beside = isBeside ? await besideDatabase(paths.beside, liveness) : undefined;
  if (beside) closers.add(() => beside.remove());
  const file = access ? mirrorPath(paths, access) : paths.database;
  const own = await openEmbeddedBoard({ path: beside?.path ?? file, clock, log });
  closers.add(() => own.close());
  const directory = registry.directory();
  const kanboard = access && openHomeKanboard(access, { ...options, directory, mirror: own });
  if (kanboard) closers.add(() => kanboard.close());
  const board = options.board ?? kanboard ?? own;
  const queue: QueueDeps = {
    ...{ board, clock, random, log },
    directory,
    artifacts: fileArtifacts({ folder: paths.artifacts }),
    meshSecret: await loadMeshSecret(paths, environment),
  };
  const { journal } = own;
  return { liveness, incarnation, board, kanboard, access, journal, registry, queue };
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
  const people = inboxPeople({ directory: queue.directory, tokens, clock });
  return { token, authenticate, people };
}

/**
 * Builds a mesh from its parts: the one place where adapters meet use cases. Where a part can't be opened,
 * those before it, and the board that was given, are closed again before it rejects.
 */
export function composeMesh(options: ComposeOptions): Promise<Mesh> {
  const log = outageLog(options.log, options.clock);
  return closingOnFailure((closers) => wireMesh({ ...options, log }, closers));
}

async function wireMesh(options: ComposeOptions, closers: Closers): Promise<Mesh> {
  const { clock, random } = options;
  const publicUrl = () => options.publicUrl() ?? '';
  const stopping = new AbortController();
  const { signal } = stopping;
  // Every run and stream of the process listens to it; that is no leak.
  setMaxListeners(0, signal);
  const given = options.board;
  if (given) closers.add(() => given.close());
  const ground = await openGround(options, closers);
  const { board, registry, queue, incarnation, journal } = ground;
  const { token, authenticate, people } = await openCredentials(options, ground);
  const { gatewayUrl } = options.config;
  const models = await openModelPlane({ ...options, registry, gatewayUrl, stopping: signal });
  closers.add(() => {
    // Its watch of the gateway ends by nothing else.
    stopping.abort();
    return models.close();
  });
  const runs = await openPersonaRuns({ ...options, registry, queue, models });
  const { availability } = runs;
  const actors = createTaskActors({ queue, journal, incarnation, stopping: signal });
  closers.add(() => {
    actors.close();
  });
  const isDead = (other: string) => ground.liveness.isDead(other);
  const slots = createSlots();
  const shared = { registry, queue, actors, availability, slots, incarnation, isDead };
  const underWay = createRunsUnderWay();
  const progressMeter = createProgressMeter(clock);
  const { route, classify, foretell, secretsOf } = runs;
  const personas: Personas = openPersonas({
    ...shared,
    serves: options.serves ?? (() => true),
    runTaskFor: runs.runTaskFor,
    serviceFor: (agentId) =>
      createPersonaService({
        ...{ ...shared, agentId, personas, authenticate, stopping: signal, runs: underWay },
        ...{ route, classify, foretell, secretsOf, progressMeter },
        publicUrl: () => options.addressOf?.(agentId) ?? `${publicUrl()}/agents/${agentId}/`,
      }),
  });
  const metrics = queueMetrics(board, clock);
  const { kanboard, access } = ground;
  const front = createFront({
    ...{ queue, registry, availability, authenticate, publicUrl },
    ...(kanboard && access ? { webhook: webhookOf(kanboard, access) } : {}),
    faults: faultReporter(options.log, random),
    sessions: inboxSessions({ clock, random }),
    people,
    metrics: () => metrics.text(),
    serviceOf: personas.serviceOf,
  });
  const onNotice = metrics.noticed;
  const notices = () => openNotices({ ...options, registry, availability, onNotice });
  return {
    ...{ front, board, kanboard, access, registry, queue, token },
    agents: () => listAgents({ registry, availability, publicUrl }),
    serviceOf: personas.serviceOf,
    ...lifeOf(ground, { personas, runs, models, underWay, stopping, closers, notices }),
  };
}

interface Living {
  readonly personas: Personas;
  readonly runs: PersonaRuns;
  readonly models: ModelPlane;
  readonly underWay: RunsUnderWay;
  readonly stopping: AbortController;
  readonly closers: Closers;
  readonly notices: () => ReturnType<typeof openNotices>;
}

/** From the first claim to the last one on record. */
function lifeOf(
  { queue, liveness, journal, kanboard, access }: Awaited<ReturnType<typeof openGround>>,
  { personas, runs, models, underWay, stopping, closers, notices }: Living,
): Pick<Mesh, 'start' | 'stop'> {
  const daemons: { stop(): Promise<void> }[] = [];
  return {
    start({ keeper } = { keeper: true }) {
      if (kanboard && access) {
        const people = { board: kanboard, queue, boardId: access.boardId };
        daemons.push({ stop: watchPeople(people) }, { stop: keepInboxes(people) });
        kanboard.start();
      }
      personas.startWorkers();
      const routing = runs.startRouting();
      daemons.push(routing);
      const unfollow = models.health.onGatewayBack(() => {
        personas.wakeWorkers();
        routing.wake();
      });
      closers.add(unfollow);
      if (!keeper) return;
      const told = notices();
      const observing = { liveness, journal, endRun: strayRunEnder(queue) };
      daemons.push(startKeeper(queue, { ...observing, ...(told && { notices: told }) }));
    },
    async stop() {
      stopping.abort();
      try {
        await Promise.all([personas.stop(), underWay.settled()]);
        await Promise.all(daemons.map((daemon) => daemon.stop()));
      } finally {
        await closers.closeAll();
      }
    },
  };
}
