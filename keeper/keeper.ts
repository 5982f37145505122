import { MeshError, reasonOf } from '../fabric/domain/errors.ts';
import type { Author } from '../fabric/domain/events.ts';
import { PrincipalId } from '../fabric/domain/ids.ts';
import { limits } from '../fabric/domain/limits.ts';
import type { Journal } from '../fabric/ports/journal.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { sweepDeadLetters } from './dead-letters.ts';
import { sweepDeadlines } from './deadlines.ts';
import { createLeaseSweep, type LeaseSweepOptions } from './leases.ts';
import { sweepNotices, type NoticeOptions } from './notices/sweep.ts';
import { sweepRetention } from './retention.ts';

export interface KeeperOptions extends Pick<LeaseSweepOptions, 'liveness' | 'endRun'> {
  /** Between two sweeps of leases; 3 s keeps recovery on the same host within 10 s. */
  readonly leaseSweepMs?: number;
  /** Between two sweeps of deadlines and dead letters. */
  readonly slowSweepMs?: number;
  /** Between two sweeps of what is old enough to go. */
  readonly oldSweepMs?: number;
  /** Between two looks at what waits for a person. */
  readonly noticeSweepMs?: number;
  /** People who hear of what waits for them; absent: nobody does. */
  readonly notices?: NoticeOptions;
  /** Streams of this process; those of ended tasks go in time. */
  readonly journal?: Pick<Journal, 'prune'>;
}

/** Owns time and nothing else: it neither submits nor claims, and work goes on without it. */
export interface Keeper {
  stop(): Promise<void>;
}

export function startKeeper(
  deps: QueueDeps,
  {
    leaseSweepMs = 3_000,
    slowSweepMs = 15_000,
    oldSweepMs = 3_600_000,
    noticeSweepMs = limits.pollMs,
    notices,
    journal,
    ...observing
  }: KeeperOptions,
): Keeper {
  const by: Author = { id: PrincipalId.parse('keeper'), role: 'keeper' };
  const leases = createLeaseSweep(deps, { by, ...observing });
  const stopping = new AbortController();
  const every = async (ms: number, name: string, sweep: () => Promise<number>) => {
    while (!stopping.signal.aborted) {
      await sweep().then(
        (count) => {
          if (count > 0) deps.log.info(`keeper.${name}`, { count });
        },
        (error: unknown) => {
          reportFault(deps, name, error);
        },
      );
      await deps.clock.sleep(ms, stopping.signal);
    }
  };
  // One loop a person: a transport that hangs keeps nobody else waiting.
  const telling = (what: NoticeOptions) => {
    const sweep = { ...what, deps, by, signal: stopping.signal };
    return what.recipients.map((recipient) =>
      every(noticeSweepMs, 'notices', () => sweepNotices(sweep, recipient)),
    );
  };
  const loops = Promise.all([
    ...(notices ? telling(notices) : []),
    every(leaseSweepMs, 'expired', () => leases.sweep()),
    every(slowSweepMs, 'deadlines', () => sweepDeadlines(deps, by)),
    every(slowSweepMs, 'dead-letters', () => sweepDeadLetters(deps, by)),
    every(oldSweepMs, 'archived', () => sweepRetention(deps, by)),
    ...(journal
      ? [every(oldSweepMs, 'pruned', () => journal.prune(deps.clock.nowMs() - limits.streamsMs))]
      : []),
  ]);
  return {
    async stop() {
      stopping.abort();
      await loops;
    },
  };
}

function reportFault({ log }: QueueDeps, sweep: string, error: unknown): void {
  const down = error instanceof MeshError && error.code === 'FABRIC_DOWN';
  if (down) log.warn('keeper.board-down', { sweep, reason: reasonOf(error) });
  else log.error('keeper.fault', { sweep, reason: reasonOf(error) });
}
