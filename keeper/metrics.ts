import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Clock } from '../fabric/ports/clock.ts';
import type { TaskBoard } from '../fabric/ports/task-board.ts';

/**
 * Queue depth and oldest age per queue and phase, in Prometheus text. Labels come from closed sets
 * (registered queues, phases), never an id.
 */
export function queueMetrics(board: TaskBoard, clock: Clock): { text(): Promise<string> } {
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
  return {
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
