import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskState, Transition } from '../../fabric/domain/state.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import type { createLeaseSweep, LeaseSweep, LeaseSweepOptions } from '../../keeper/leases.ts';
import type { Held, startRun } from '../../fabric/queue/claim.ts';
import type { LogWriterDeps, QueueDeps } from '../../fabric/queue/deps.ts';
import type { KeptLease } from '../../fabric/queue/lease.ts';
import { memoryStore, type MemoryStore } from '../support/memory-store.ts';
import type { RuleBreaks } from './episode.ts';

export type Rule = (before: TaskState | undefined, event: TaskEvent) => Transition;
export type KeepLease = (deps: QueueDeps, held: Held) => KeptLease;
export type SweepOf = typeof createLeaseSweep;

/** One protective rule, and a mesh without it. Whatever is not named stays as it is. */
export interface BrokenRule {
  readonly rule: string;
  readonly breaks?: RuleBreaks;
  readonly transition?: (real: Rule) => Rule;
  readonly keepLease?: (real: KeepLease) => KeepLease;
  readonly startRun?: typeof startRun;
  readonly sweepOf?: SweepOf;
  /** `access.ts` says yes to everybody. */
  readonly isOpenToAll?: boolean;
  /** Least lease left for a spawn. */
  readonly spawnMarginMs?: number;
}

const boardThat = (change: (board: TaskBoard) => Partial<TaskBoard>): RuleBreaks => ({
  board: (board) => ({ ...board, ...change(board) }),
});

/** What the table makes of an event once it was made to look right. */
const seen =
  (look: (before: TaskState, event: TaskEvent) => readonly [TaskState, TaskEvent]) =>
  (real: Rule): Rule =>
  (before, event) => {
    if (before === undefined) return real(before, event);
    const [state, shown] = look(before, event);
    return real(state, shown);
  };

const withAttempts =
  (isMeant: (event: TaskEvent) => boolean) =>
  (real: Rule): Rule =>
  (before, event) => {
    const next = real(before, event);
    if (!next.ok || before === undefined || !isMeant(event)) return next;
    return { ok: true, state: { ...next.state, attempts: before.attempts } };
  };

const endsRun = ({ kind }: TaskEvent): boolean =>
  ['settled', 'failed', 'parked', 'released', 'deferred', 'uncertain'].includes(kind);

const stopped = { nowMs: () => 0, monotonicMs: () => 0 };
const blind = (clock: Clock): Clock => ({
  ...stopped,
  sleep: (ms, signal) => clock.sleep(ms, signal),
  after: (ms, due) => clock.after(ms, due),
});

export const brokenRules: readonly BrokenRule[] = [
  { rule: 'a slot is written at most once', breaks: { store: storeThatOverfills } },
  {
    rule: 'what was acknowledged is durable',
    breaks: boardThat((board) => ({
      append: (uid, version, event) => board.append(uid, version, event, 'buffered'),
    })),
  },
  {
    rule: 'an unclear answer is never acted on',
    breaks: boardThat((board) => ({
      append: async (...slot) => {
        const answer = await board.append(...slot);
        return answer === 'unknown' ? 'appended' : answer;
      },
    })),
  },
  {
    rule: 'the same submit names the same task',
    breaks: { meshSecret: secretThatChanges() },
  },
  {
    rule: 'only the newest claim puts its end on record',
    transition: seen((before, event) => {
      const { claim } = before;
      if (!endsRun(event) || claim === undefined || !('fence' in event)) return [before, event];
      return [before, { ...event, fence: claim.fence }];
    }),
  },
  {
    rule: 'a start is on record before anything is spawned',
    startRun: async (_deps, held) => {
      const { claim, attempts } = held.state;
      if (claim === undefined) return held;
      const state = { ...held.state, phase: 'working', attempts: attempts + 1, claim } as const;
      return { ...held, state };
    },
  },
  {
    rule: 'a spawn needs enough of its lease',
    spawnMarginMs: -1e12,
  },
  {
    rule: 'a holder that lost its lease stops',
    keepLease: (real) => (deps, held) => {
      const { stop } = real(deps, held);
      return { stop, loss: () => undefined, signal: new AbortController().signal };
    },
  },
  {
    rule: 'a holder that was away past its lease stops',
    keepLease: (real) => (deps, held) =>
      real(
        { ...deps, clock: blind(deps.clock) },
        { ...held, claimedAtMs: 0, claimedMonotonicMs: 0 },
      ),
  },
  {
    rule: 'each start counts as an attempt',
    transition: withAttempts((event) => event.kind === 'started' || event.kind === 'claimed'),
  },
  {
    rule: 'parking counts no attempt',
    transition: withAttempts((event) => event.kind === 'parked'),
  },
  {
    rule: 'outward work is never run again without a person',
    transition: (real) => (before, event) => {
      if (before === undefined || event.kind === 'routed') return real(before, event);
      const next = real({ ...before, task: { ...before.task, effects: 'workspace' } }, event);
      return next.ok ? { ok: true, state: { ...next.state, task: before.task } } : next;
    },
  },
  {
    rule: 'a lease ends by what its observer saw, not by written times',
    sweepOf: sweepByWallClock,
  },
  {
    rule: 'the producer never verifies',
    isOpenToAll: true,
    transition: seen((before, event) => {
      const { producer: _forgotten, ...rest } = before;
      return event.kind === 'verified' ? [rest, event] : [before, event];
    }),
  },
  {
    rule: 'an answer names its question exactly',
    transition: seen((before, event) => {
      const { question } = before;
      if (event.kind !== 'answered' || question === undefined) return [before, event];
      return [before, { ...event, decisionId: question.decisionId }];
    }),
  },
  {
    rule: 'only the addressee answers',
    isOpenToAll: true,
    transition: seen((before, event) => {
      const { question } = before;
      if (event.kind !== 'answered' || question === undefined) return [before, event];
      return [{ ...before, question: { ...question, to: [event.by.id] } }, event];
    }),
  },
  {
    rule: 'what has ended stays ended',
    isOpenToAll: true,
    transition: seen((before, event) =>
      event.kind === 'canceled' ? [{ ...before, phase: 'ready' }, event] : [before, event],
    ),
  },
];

/** Two writers of one slot are both told that they have it. */
function storeThatOverfills(listener: Parameters<typeof memoryStore>[0]): MemoryStore {
  const store = memoryStore(listener);
  return {
    ...store,
    append(uid, version, event, ...rest) {
      const answer = store.append(uid, version, event, ...rest);
      const length = store.logs().get(uid)?.length ?? 0;
      if (answer !== 'conflict' || version > length) return answer;
      return store.append(uid, length + 1, event, ...rest);
    },
  };
}

function secretThatChanges(): () => string {
  let asked = 0;
  return () => {
    asked += 1;
    return `secret-${asked}`;
  };
}

/** Trusts the times that other hosts wrote. */
function sweepByWallClock(deps: LogWriterDeps, { by }: LeaseSweepOptions): LeaseSweep {
  return {
    async sweep() {
      const { states } = await deps.board.find({ leasesOnly: true, limit: 500 });
      for (const { taskId, claim } of states) {
        if (claim === undefined || deps.clock.nowMs() - claim.claimedAtMs < claim.leaseMs) continue;
        const { fence } = claim;
        await change(deps, taskId, ({ state }) =>
          state.claim?.fence === fence
            ? eventOf(deps, by, 'expired', { fence, reason: 'its time is over' })
            : undefined,
        );
      }
      return 0;
    },
  };
}
