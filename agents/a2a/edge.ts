import type { TaskState } from '../../fabric/domain/state.ts';
import type { Selection } from '../../fabric/domain/task.ts';
import type { AvailabilityProbe } from '../../fabric/ports/availability.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import type { Slots } from '../../fabric/queue/slots.ts';
import type { CardRegistry } from '../../cards/registry/card-registry.ts';
import type { Foretell } from '../runtimes/route-dry-run.ts';
import type { LocalPersonas } from './personas.ts';
import type { ProgressMeter } from './progress-meter.ts';
import type { RunsUnderWay } from './runs-under-way.ts';
import type { TaskActors } from './task-actors.ts';

/** What the edge of one persona works with. */
export interface Edge {
  readonly agentId: string;
  readonly queue: QueueDeps;
  readonly actors: TaskActors;
  readonly personas: LocalPersonas;
  readonly registry: CardRegistry;
  readonly availability: AvailabilityProbe;
  readonly slots: Slots;
  readonly runs: RunsUnderWay;
  readonly incarnation: string;
  /** Proof that a holder's process is gone, where this one can have it. */
  readonly isDead?: (incarnation: string) => Promise<boolean>;
  readonly progressMeter: ProgressMeter;
  /** Values that a run of this agent was given and nobody may read; none where its Card lists none. */
  readonly secretsOf?: (agentId: string) => readonly string[];
  /** Where clients reach this persona, as its Agent Card says; may change while it is served. */
  readonly publicUrl: () => string;
  readonly stopping: AbortSignal;
  /** Chooses an agent for a task without one and puts the choice on record; only a router asks it. */
  readonly route?: (state: TaskState) => Promise<TaskState>;
  /** Says what tier a text deserves, where nobody else has; only a router asks it. */
  readonly classify?: (text: string, contextRefs: number) => Promise<Selection>;
  /** Who would get a task, without submitting it; only a router asks it. */
  readonly foretell?: Foretell;
  /** Longest that a waiting call waits, ms; `limits.waitMs`. */
  readonly waitMs: number;
}

/** A router answers for tasks of every persona; any other one only for its own. */
export const isRouter = (edge: Edge): boolean =>
  edge.queue.directory.agent(edge.agentId)?.runtime === 'router';
