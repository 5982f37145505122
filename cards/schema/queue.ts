import { z } from 'zod';
import { QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { Duration } from './duration.ts';

/** The agent's work list; `project` absent: the Card's id. */
export const CardQueue = z
  .strictObject({
    project: QueueId.exactOptional(),
    concurrency: z.int().min(1).max(100).default(1),
    lease: Duration.default(limits.leaseMs),
    heartbeat: Duration.exactOptional(),
    /** Never run while a caller waits; humans never do. */
    asyncOnly: z.boolean().exactOptional(),
  })
  .prefault({});

/** Bounds of one run and of one waiting call. */
export const Timeouts = z
  .strictObject({
    run: Duration.default(limits.runTimeoutMs),
    wait: Duration.default(limits.waitMs),
  })
  .transform(({ run, wait }) => ({ runMs: run, waitMs: wait }))
  .prefault({});
