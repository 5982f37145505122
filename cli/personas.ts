import type { Hono } from 'hono';
import type { LocalPersonas } from '../agents/a2a/personas.ts';
import type { TaskActors } from '../agents/a2a/task-actors.ts';
import { unservedReason } from '../agents/runtimes/runtime.ts';
import type { Card } from '../cards/schema/card.ts';
import type { CardRegistry } from '../cards/registry/card-registry.ts';
import { reasonOf } from '../fabric/domain/errors.ts';
import type { AvailabilityProbe } from '../fabric/ports/availability.ts';
import type { RunTask } from '../fabric/ports/run-task.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import type { Slots } from '../fabric/queue/slots.ts';
import { startWorker, type Worker } from '../fabric/queue/worker.ts';

export interface PersonasOptions {
  readonly registry: CardRegistry;
  readonly queue: QueueDeps;
  readonly actors: TaskActors;
  readonly availability: AvailabilityProbe;
  readonly slots: Slots;
  readonly incarnation: string;
  /** How a Card's persona works; undefined for a runtime that this build does not serve. */
  readonly runTaskFor: (card: Card) => RunTask | undefined;
  readonly serviceFor: (agentId: string) => Hono;
  /** Which agents this process serves. */
  readonly serves: (agentId: string) => boolean;
}

/** The personas of this process: they follow the registry, without a restart. */
export interface Personas extends LocalPersonas {
  readonly serviceOf: (agentId: string) => Hono | undefined;
  /** Begins to drain the queues; without it only callers who wait are served. */
  startWorkers(): void;
  /** Every worker looks at its queue now: what kept its agent away may be over. */
  wakeWorkers(): void;
  /** Takes nothing new, hands runs back, and resolves when all is on record. */
  stop(): Promise<void>;
}

export function openPersonas(options: PersonasOptions): Personas {
  const { registry, queue, serves } = options;
  const runs = new Map<string, { readonly card: Card; readonly runTask: RunTask | undefined }>();
  const services = new Map<string, Hono>();
  const workers = new Map<string, Worker>();
  const leaving = new Set<Worker>();
  let drains = false;

  /** The run of the newest Card; a run that has begun keeps the one it was claimed under. */
  const runTaskOf = (agentId: string): RunTask | undefined => {
    const card = serves(agentId) ? registry.card(agentId) : undefined;
    if (card === undefined) return undefined;
    const known = runs.get(agentId);
    if (known?.card === card) return known.runTask;
    const runTask = options.runTaskFor(card);
    runs.set(agentId, { card, runTask });
    return runTask;
  };
  const follow = () => {
    const { cards } = registry.current();
    for (const [agentId, worker] of workers) {
      if (runTaskOf(agentId) !== undefined) continue;
      workers.delete(agentId);
      // A run keeps the runtime that it was claimed under, but no grants of a Card that is gone.
      const left = cards.has(agentId) ? worker.leave() : worker.stop();
      leaving.add(worker);
      void left.finally(() => leaving.delete(worker));
    }
    if (!drains) return;
    for (const agentId of cards.keys()) {
      if (workers.has(agentId) || runTaskOf(agentId) === undefined) continue;
      workers.set(agentId, workerOf(agentId, runTaskOf, options));
    }
  };
  const unfollow = registry.onChange(follow);

  return {
    runTaskOf,
    serviceOf(agentId) {
      if (!serves(agentId) || registry.card(agentId) === undefined) return undefined;
      const service = services.get(agentId) ?? options.serviceFor(agentId);
      services.set(agentId, service);
      return service;
    },
    startWorkers() {
      drains = true;
      follow();
    },
    wakeWorkers() {
      for (const worker of workers.values()) worker.wake();
    },
    async stop() {
      unfollow();
      const stops = [...workers.values(), ...leaving].map((worker) => worker.stop());
      await Promise.all(stops).catch((error: unknown) => {
        queue.log.error('personas.stop-failed', { reason: reasonOf(error) });
      });
    },
  };
}

const hasLeft = (agentId: string): string => `${agentId} has left the registry`;

/** A Card that took another runtime between a claim and its run. */
const whyNoRuns = ({ id, runtime }: Card): string =>
  unservedReason(runtime) ?? `${id} is now of runtime ${runtime}, which has no runs of its own`;

function workerOf(
  agentId: string,
  runTaskOf: (agentId: string) => RunTask | undefined,
  { registry, queue, actors, availability, slots, incarnation }: PersonasOptions,
): Worker {
  return startWorker(queue, {
    agentId,
    // Asked anew for each run: a Card that changed takes effect with the next claim.
    runTask: (run, signal) => {
      const runTask = runTaskOf(agentId);
      if (runTask) return runTask(run, signal);
      const card = registry.card(agentId);
      return Promise.resolve({ kind: 'parked', reason: card ? whyNoRuns(card) : hasLeft(agentId) });
    },
    availability,
    slots,
    incarnation,
    onChunk: ({ uid }, text) => {
      actors.chunk(uid, text);
    },
    onProgress: ({ uid }, text) => {
      actors.progress(uid, text);
    },
  });
}
