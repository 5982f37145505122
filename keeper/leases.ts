import type { Author } from '../fabric/domain/events.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { Liveness } from '../fabric/ports/liveness.ts';
import type { TaskLog } from '../fabric/ports/task-board.ts';
import { change, eventOf } from '../fabric/queue/change.ts';
import type { QueueDeps } from '../fabric/queue/deps.ts';
import { eachTask } from './each-task.ts';

export interface LeaseSweep {
  /** One pass over all claims; returns how many it expired. */
  sweep(): Promise<number>;
}

export interface LeaseSweepOptions {
  readonly by: Author;
  readonly liveness: Pick<Liveness, 'isDead'>;
  /** Ends what a dead process's run left on this host, before its claim is given up. */
  readonly endRun?: (state: TaskState) => Promise<void>;
}

/** What this observer last saw of a claim, and when on its own monotonic clock. */
interface Sighting {
  readonly fence: number;
  /** A claim that was never durable may go with its process, and another get the same fence. */
  readonly incarnation: string;
  readonly beats: number;
  readonly sinceMs: number;
}

/**
 * Expires claims whose holder is gone. A claim counts as expired only when this observer itself saw no
 * beat for a whole lease on its own monotonic clock, or holds proof that the holder's process is dead;
 * written timestamps of others prove nothing (`DESIGN.md` 4.1, bug log G-16). It reads again right
 * before it writes, and the slot decides.
 */
export function createLeaseSweep(deps: QueueDeps, options: LeaseSweepOptions): LeaseSweep {
  const seen = new Map<string, Sighting>();
  const look = async ({ taskId }: TaskState): Promise<boolean> => {
    const log = await deps.board.read(taskId);
    if (log === undefined) return false;
    const why = await reasonToExpire(deps, log, seen.get(taskId), options);
    if (why !== undefined) return expire(deps, options.by, log, why);
    remember(deps, seen, log);
    return false;
  };
  return {
    async sweep() {
      const held = new Set<string>();
      const expired = await eachTask(deps, 'expired', { leasesOnly: true }, (state) => {
        held.add(state.taskId);
        return look(state);
      });
      // Only after a whole pass: what a fault kept from being looked at is still known the next time.
      for (const uid of seen.keys()) if (!held.has(uid)) seen.delete(uid);
      return expired;
    },
  };
}

const beatsOf = (log: TaskLog): number =>
  log.beats && log.beats.version === log.state.claim?.fence ? log.beats.count : 0;

function remember({ clock }: QueueDeps, seen: Map<string, Sighting>, log: TaskLog): void {
  const { claim } = log.state;
  if (claim === undefined) return;
  const before = seen.get(log.uid);
  const beats = beatsOf(log);
  const sinceMs = isSilentSince(before, log) ? before.sinceMs : clock.monotonicMs();
  seen.set(log.uid, { fence: claim.fence, incarnation: claim.incarnation, beats, sinceMs });
}

/** The very claim that was seen then, and no beat of it since. */
function isSilentSince(before: Sighting | undefined, log: TaskLog): before is Sighting {
  const { claim } = log.state;
  return (
    before !== undefined &&
    before.fence === claim?.fence &&
    before.incarnation === claim.incarnation &&
    before.beats === beatsOf(log)
  );
}

async function reasonToExpire(
  { clock }: QueueDeps,
  log: TaskLog,
  before: Sighting | undefined,
  { liveness, endRun }: LeaseSweepOptions,
): Promise<string | undefined> {
  const { claim } = log.state;
  if (claim === undefined) return undefined;
  if (await liveness.isDead(claim.incarnation)) {
    await endRun?.(log.state);
    return 'its process is dead';
  }
  if (!isSilentSince(before, log)) return undefined;
  const silentMs = clock.monotonicMs() - before.sinceMs;
  return silentMs >= claim.leaseMs ? `no beat for ${Math.round(silentMs / 1_000)} s` : undefined;
}

/** Reads once more: a beat, an outcome or a newer claim in between leaves everything as it is. */
async function expire(
  deps: QueueDeps,
  by: Author,
  seen: TaskLog,
  reason: string,
): Promise<boolean> {
  const { claim } = seen.state;
  if (claim === undefined) return false;
  const { fence, incarnation } = claim;
  let wrote = false;
  const decide = (log: TaskLog) => {
    const now = log.state.claim;
    const isSame = now?.fence === fence && now.incarnation === incarnation;
    wrote = isSame && beatsOf(log) === beatsOf(seen);
    return wrote ? eventOf(deps, by, 'expired', { fence, reason }) : undefined;
  };
  await change(deps, seen.uid, decide, { fresh: true });
  return wrote;
}
