import { setMaxListeners } from 'node:events';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { exportJWK, generateKeyPair } from 'jose';
import { join } from 'node:path';
import { createProgressMeter } from '../../agents/a2a/progress-meter.ts';
import { createRunsUnderWay } from '../../agents/a2a/runs-under-way.ts';
import { createTaskActors, type TaskActors } from '../../agents/a2a/task-actors.ts';
import { createAuthenticate } from '../../agents/auth/authenticate.ts';
import { signCall, type CallSigning, type PrivateJwk } from '../../agents/auth/sign.ts';
import { tokenStore, type TokenStore } from '../../agents/auth/token-store.ts';
import { createPersonaService } from '../../agents/service.ts';
import { openCardRegistry, type CardRegistry } from '../../cards/registry/card-registry.ts';
import { thumbprint } from '../../cards/schema/public-key.ts';
import { scopes, type Scope } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { openEmbeddedBoard, type EmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { fileArtifacts } from '../../fabric/embedded/file-artifacts.ts';
import type { Availability } from '../../fabric/ports/availability.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { Journal } from '../../fabric/ports/journal.ts';
import type { RunTask } from '../../fabric/ports/run-task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { createSlots, type Slots } from '../../fabric/queue/slots.ts';
import { startWorker, type Worker } from '../../fabric/queue/worker.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { cardHome, gitEnvironment, type CardHome } from './card-home.ts';
import { cardFields } from './card-yaml.ts';
import { recordingLog } from './recording-log.ts';

export type EdgeLog = ReturnType<typeof recordingLog>;

/** Personas on one embedded board, each served over HTTP on a port of its own. */
export interface EdgeMesh {
  readonly home: CardHome;
  readonly registry: CardRegistry;
  readonly board: EmbeddedBoard;
  readonly queue: QueueDeps;
  readonly actors: TaskActors;
  readonly slots: Slots;
  readonly tokens: TokenStore;
  readonly log: EdgeLog;
  /** How each persona works; a test sets what it needs. */
  readonly runs: Map<string, RunTask>;
  /** a(t) of agents that are away; absent = available. */
  readonly away: Map<string, Availability>;
  /** The persona's address, with a slash at the end. */
  urlOf(agentId: string): string;
  /** The persona's service, for requests that need no network. */
  serviceOf(agentId: string): Hono;
  /** An API token of a person. */
  tokenOf(person: string, scopes?: readonly Scope[]): Promise<string>;
  signed(agentId: string, audience: string, change?: Partial<CallSigning>): Promise<string>;
  keyOf(agentId: string): PrivateJwk;
  /** Starts the persona's worker; it drains what is left on the board. */
  work(agentId: string): void;
  /** Tells every run to stop and every caller to go, as a process does that ends. */
  stop(): void;
  close(): Promise<void>;
}

export interface EdgeMeshOptions {
  readonly clock?: Clock;
  readonly waitMs?: number;
  readonly route?: (mesh: EdgeMesh, state: TaskState) => Promise<TaskState>;
  /** What stands between the edge and its own board; default: nothing. */
  readonly store?: (inner: EmbeddedBoard) => {
    readonly board: TaskBoard;
    readonly journal: Journal;
  };
  /** Cards beside Adolf, the helper, the person and the router. */
  readonly cards?: readonly CardChange[];
}

export const meshSecret = 'a-secret-of-tests-that-is-long-enough';

type CardChange = Record<string, unknown> & { readonly id?: string };

const agentCards = (): CardChange[] => [
  {
    mayCall: ['helper', 'slow', 'operator'],
    queue: { concurrency: 20 },
    admit: ['human', 'trusted'],
  },
  { id: 'helper', name: 'Helper', mayCall: ['*'], queue: { concurrency: 1 } },
  { id: 'single', name: 'Single', queue: { concurrency: 1 } },
  { id: 'slow', name: 'Slow', queue: { concurrency: 4, asyncOnly: true } },
  { id: 'doer', name: 'Doer', effects: 'external', queue: { concurrency: 4 } },
  {
    ...{ id: 'router', name: 'Router', runtime: 'router', persona: undefined, needs: undefined },
    ...{ mayCall: ['*'], queue: { concurrency: 50 } },
  },
];

/** Opens a mesh; close it when the tests are over. */
export async function edgeMesh(options: EdgeMeshOptions = {}): Promise<EdgeMesh> {
  const { clock = systemClock, waitMs = 10_000 } = options;
  const log = recordingLog();
  const keys = new Map<string, PrivateJwk>();
  const home = cardHome();
  for (const change of [...agentCards(), ...(options.cards ?? [])]) {
    const { id = 'adolf' } = change;
    const key = await newKey();
    keys.set(id, key);
    const { kty, crv, x } = key;
    home.card(cardFields({ ...change, identity: { kty, crv, x, kid: thumbprint(x) } }));
  }
  home.commit();
  const registry = await openCardRegistry({
    ...{ home: home.dir, stateDir: home.stateDir, branch: 'main', environment: gitEnvironment },
    ...{ defaultHuman: () => 'operator', clock: systemClock, log },
  });
  const board = await openEmbeddedBoard({ path: join(home.stateDir, 'board.db'), clock, log });
  const artifacts = fileArtifacts({ folder: join(home.stateDir, 'artifacts') });
  const directory = registry.directory();
  const store = options.store?.(board) ?? { board, journal: board.journal };
  const queue: QueueDeps = {
    ...{ board: store.board, directory, artifacts, clock, random: systemRandom, log, meshSecret },
  };
  const tokens = tokenStore({
    path: join(home.stateDir, 'tokens.json'),
    clock,
    random: systemRandom,
  });
  const stopping = new AbortController();
  // As in `cli/compose.ts`: every run listens to it.
  setMaxListeners(0, stopping.signal);
  const incarnation = `test-${systemRandom.hex(4)}`;
  const actors = createTaskActors({
    ...{ queue, journal: store.journal, incarnation, stopping: stopping.signal, pollMs: 200 },
  });
  const slots = createSlots();
  const underWay = createRunsUnderWay();
  const progressMeter = createProgressMeter(clock);
  const runs = new Map<string, RunTask>();
  const away = new Map<string, Availability>();
  const availability = { at: (id: string) => away.get(id) ?? { a: 1 as const, reasons: [] } };
  const authenticate = createAuthenticate({ registry, tokens, board, meshSecret, clock });
  const urls = new Map<string, string>();
  const services = new Map<string, Hono>();
  const workers: Worker[] = [];
  const closers: (() => void)[] = [];
  const mesh: EdgeMesh = {
    ...{ home, registry, board, queue, actors, slots, tokens, log, runs, away },
    urlOf: (agentId) => urls.get(agentId) ?? '',
    serviceOf: (agentId) => services.get(agentId)!,
    async tokenOf(person, granted = scopes.filter((scope) => scope !== 'tasks:read-all')) {
      const wish = { principalId: person, role: 'human' as const, label: 'test' };
      return (await tokens.createToken({ ...wish, scopes: [...granted] })).token;
    },
    keyOf: (agentId) => keys.get(agentId)!,
    signed: (agentId, audience, change = {}) =>
      signCall({ agentId, audience, clock, privateJwk: keys.get(agentId)!, ...change }),
    work(agentId) {
      const worker = startWorker(queue, {
        ...{ agentId, availability, slots, incarnation, pollMs: 100 },
        runTask: (run, signal) => runs.get(agentId)!(run, signal),
        onChunk: ({ uid }, text) => actors.chunk(uid, text),
        onProgress: ({ uid }, text) => actors.progress(uid, text),
      });
      workers.push(worker);
    },
    stop: () => stopping.abort(),
    async close() {
      stopping.abort();
      await Promise.all([...workers.map((worker) => worker.stop()), underWay.settled()]);
      for (const closeServer of closers) closeServer();
      await registry.close();
      await board.close();
      home.remove();
    },
  };
  const servers = [...keys.keys()].map((agentId) => {
    const app = createPersonaService({
      ...{ agentId, queue, actors, registry, availability, slots, incarnation, authenticate },
      ...{ waitMs, stopping: stopping.signal, publicUrl: () => urls.get(agentId) ?? '' },
      personas: { runTaskOf: (id) => runs.get(id) },
      ...{ runs: underWay, progressMeter },
      secretsOf: (id) => (id === 'talker' ? ['open-sesame'] : []),
      ...(agentId === 'router' && options.route
        ? { route: (state: TaskState) => options.route!(mesh, state) }
        : {}),
    });
    services.set(agentId, app);
    return new Promise<() => void>((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, (address) => {
        urls.set(agentId, `http://127.0.0.1:${address.port}/`);
        resolve(() => {
          server.close();
          if ('closeAllConnections' in server) server.closeAllConnections();
        });
      });
    });
  });
  closers.push(...(await Promise.all(servers)));
  return mesh;
}

async function newKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const { x, d } = await exportJWK(privateKey);
  return { kty: 'OKP', crv: 'Ed25519', x: x!, d: d! };
}
