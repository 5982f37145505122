import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Clock } from '../fabric/ports/clock.ts';
import type { Delivery, Notice } from '../fabric/ports/notifier.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';

export interface MeshMetrics {
  text(): Promise<string>;
  /** Counts what became of a notice. */
  readonly noticed: (kind: Notice['kind'], outcome: Delivery['outcome']) => void;
}

/**
 * Queue depth and oldest age per queue and phase, and notices by outcome, in Prometheus text. Labels come
 * from closed sets (registered queues, phases, outcomes), never an id.
 */
export function queueMetrics(board: TaskBoard, clock: Clock): MeshMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'mesh_' });
  const depth = new Gauge({
    name: 'mesh_queue_depth',
    help: 'Tasks of a queue in a phase',
    labelNames: ['queue', 'phase'],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'mesh_queue_oldest_age_seconds',
    help: 'Age of the eldest task of a queue in a phase',
    labelNames: ['queue', 'phase'],
    registers: [registry],
  });
  const notices = new Counter({
    name: 'mesh_notices_total',
    help: 'Notices to people since the start, by kind and outcome',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  return {
    noticed(kind, outcome) {
      notices.inc({ kind, outcome });
    },
    async text() {
      depth.reset();
      oldest.reset();
      for (const { queue, phase, count, oldestAtMs } of await board.depths()) {
        depth.set({ queue, phase }, count);
        oldest.set({ queue, phase }, Math.max(0, (clock.nowMs() - oldestAtMs) / 1_000));
      }
      return registry.metrics();
    },
  };
}
