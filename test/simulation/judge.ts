import type { EventOf, TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { Phase, TaskState } from '../../fabric/domain/state.ts';
import type { Claim } from '../../fabric/domain/task.ts';
import type { Breach } from '../support/history-checker.ts';
import type { MemoryStore, StoreListener } from '../support/memory-store.ts';
import type { Trouble } from './network.ts';
import type { Execution, OutsideWorld } from './outside-world.ts';
import type { SimulatedProcess } from './process.ts';
import { windowOf, type WindowCounts } from './race-windows.ts';
import type { VirtualTime } from './virtual-time.ts';

const endedPhases: ReadonlySet<Phase> = new Set<Phase>([
  'verified',
  'refused',
  'dead-letter',
  'canceled',
  'rejected',
  'split',
  'archived',
]);
const hasEnded = ({ phase, task }: TaskState): boolean =>
  endedPhases.has(phase) || (phase === 'done' && task.verification === 'none');

interface Holding {
  readonly claim: Claim;
  readonly writtenAtMs: number;
  beatAtMs: number;
  /** When a beat came after a whole lease without one. */
  lateBeatAtMs: number;
}

export interface JudgeOptions {
  readonly time: VirtualTime;
  readonly world: OutsideWorld;
  readonly windows: WindowCounts;
  readonly store: () => MemoryStore;
  readonly processOf: (incarnation: string) => SimulatedProcess | undefined;
  readonly troubleOf: (incarnation: string) => Trouble | undefined;
}

/** Least lease that a spawn needs (`DESIGN.md` 4.1); written down once more, so that it can be missed. */
const spawnMarginMs = 5_000;
/** Clocks run up to half a percent off, observer against holder one percent. */
const rateTolerance = 0.985;
/** A told holder has been asked by then: two calls, each slow and unanswered once. */
const callSlackMs = 15_000;

/** Sees the store and the world at the same instant, which nobody inside the mesh can. */
export class Judge {
  readonly breaches: Breach[] = [];
  readonly listener: StoreListener;
  claims = 0;
  readonly #open = new Set<string>();
  readonly #holdings = new Map<string, Holding>();
  /** Tokens of expiries that were rightful when they were sent, however late they arrive. */
  readonly #rightful = new Set<string>();
  readonly #options: JudgeOptions;

  constructor(options: JudgeOptions) {
    this.#options = options;
    const { windows } = options;
    this.listener = {
      wrote: (uid, event, state, before) => {
        this.#wrote(uid, event, state, before);
      },
      refused: (_uid, tried, there) => {
        const window = windowOf(tried, there);
        if (window) windows.hit(window);
      },
      beat: (uid, version) => {
        this.#beat(uid, version);
      },
      lost: (uid, events) => {
        windows.hit('crash-loses-buffer');
        for (const event of events) if (event.kind === 'submitted') this.#open.delete(uid);
      },
    };
  }

  get openTasks(): number {
    return this.#open.size;
  }

  /** What is about to be sent; it may be kept on the way until long after it was decided. */
  sent(uid: TaskId, event: TaskEvent): void {
    if (event.kind !== 'expired') return;
    const holding = this.#holdings.get(`${uid}/${event.fence}`);
    if (holding === undefined || this.#isSilent(holding)) this.#rightful.add(event.token);
  }

  /** Before anything runs outside, its start is on record and enough of its lease is left. */
  spawned(uid: TaskId, fence: number, attempt: number, isBuffered: boolean): void {
    const { time, store } = this.#options;
    const log = store().read(uid);
    const isOnRecord = log?.events.some((event) => isStart(event, fence, attempt)) ?? false;
    if (!isOnRecord && !isBuffered) {
      this.report('I2', uid, `fence ${fence} was spawned before its start was on record`);
    }
    const holding = this.#holdings.get(`${uid}/${fence}`);
    if (holding === undefined) return;
    const { leaseMs } = holding.claim;
    const leftMs = leaseMs - (time.nowMs() - holding.writtenAtMs);
    const margin = Math.min(spawnMarginMs, leaseMs / 2);
    if (leftMs < margin * rateTolerance - leaseMs * 0.01) {
      this.report(
        'MARGIN',
        uid,
        `fence ${fence} was spawned with ${Math.round(leftMs)} ms of its lease left`,
      );
    }
  }

  /** A holder that was away for a whole lease stops what it runs, at once. */
  wentOn(process: SimulatedProcess, awayMs: number): void {
    const { time, world, windows } = this.#options;
    for (const execution of world.running()) {
      if (execution.owner !== process) continue;
      const leaseMs = this.#holdings.get(keyOf(execution))?.claim.leaseMs ?? Infinity;
      if (awayMs < leaseMs * 1.01 || time.nowMs() - execution.beganAtMs < awayMs) continue;
      windows.hit('pause-past-lease');
      time.after(1_500, () => {
        if (execution.endedAtMs !== undefined || process.isDead() || process.isStopped()) return;
        if (execution.toldAtMs !== undefined) return;
        this.report(
          'PAUSE',
          execution.uid,
          `fence ${execution.fence} goes on after ${Math.round(awayMs)} ms away`,
        );
      });
    }
  }

  report(invariant: string, uid: string, what: string): void {
    this.breaches.push({ invariant, uid, what });
  }

  #wrote(uid: TaskId, event: TaskEvent, state: TaskState, before: TaskState | undefined): void {
    if (hasEnded(state)) this.#open.delete(uid);
    else this.#open.add(uid);
    const nowMs = this.#options.time.nowMs();
    if (event.kind === 'claimed' && state.claim) {
      this.claims += 1;
      const times = { writtenAtMs: nowMs, beatAtMs: nowMs, lateBeatAtMs: -Infinity };
      const holding = { claim: state.claim, ...times };
      this.#holdings.set(`${uid}/${state.claim.fence}`, holding);
    }
    const isTooLate = event.kind === 'released' && event.reason.endsWith('nearly over');
    if (isTooLate) this.#options.windows.hit('late-margin');
    if (event.kind === 'expired') this.#expired(uid, event, nowMs);
    const isOthers = before?.claim !== undefined && before.claim.holder !== event.by.id;
    if (isOthers && state.claim === undefined) this.#overtaken(uid, before.claim);
  }

  /** An observer may give a claim up only after a whole lease without a beat, or with proof of death. */
  #expired(uid: TaskId, { fence, token }: EventOf<'expired'>, nowMs: number): void {
    const holding = this.#holdings.get(`${uid}/${fence}`);
    if (holding === undefined || this.#rightful.has(token)) {
      if (holding && nowMs - holding.lateBeatAtMs <= callSlackMs)
        this.#options.windows.hit('expire-beat');
      return;
    }
    const silentMs = Math.round(nowMs - holding.beatAtMs);
    this.report('EXPIRY', uid, `fence ${fence} was given up after ${silentMs} ms of silence`);
  }

  #isSilent({ claim, beatAtMs, lateBeatAtMs }: Holding): boolean {
    const nowMs = this.#options.time.nowMs();
    if (this.#options.processOf(claim.incarnation)?.isDead()) return true;
    // Between its last look and its word an observer can't see a beat.
    const isJustHeard = nowMs - lateBeatAtMs <= callSlackMs;
    return isJustHeard || nowMs - beatAtMs >= claim.leaseMs * rateTolerance;
  }

  /** An overtaken run is stopped at its holder's next look at the board, if that can look. */
  #overtaken(uid: TaskId, claim: Claim): void {
    const { time, world, processOf, troubleOf } = this.#options;
    const execution = world
      .running()
      .find((one) => one.uid === uid && one.fence === claim.fence && !one.owner.isDead());
    const owner = processOf(claim.incarnation);
    const trouble = troubleOf(claim.incarnation);
    if (execution === undefined || owner === undefined || trouble === undefined) return;
    const withinMs = claim.leaseMs / 3 / rateTolerance + callSlackMs;
    const look = () => {
      if (execution.endedAtMs !== undefined || execution.toldAtMs !== undefined) return;
      if (owner.isDead() || owner.isStopped()) return;
      const quietMs = time.nowMs() - trouble.lastAtMs;
      if (quietMs < withinMs) time.after(withinMs - quietMs, look);
      else
        this.report(
          'STALE',
          uid,
          `fence ${claim.fence} still runs ${Math.round(withinMs)} ms after it was overtaken`,
        );
    };
    time.after(withinMs, look);
  }

  #beat(uid: TaskId, version: number): void {
    const holding = this.#holdings.get(`${uid}/${version}`);
    if (holding === undefined) return;
    const nowMs = this.#options.time.nowMs();
    if (nowMs - holding.beatAtMs >= holding.claim.leaseMs * rateTolerance)
      holding.lateBeatAtMs = nowMs;
    holding.beatAtMs = nowMs;
  }
}

const keyOf = ({ uid, fence }: Execution): string => `${uid}/${fence}`;

const isStart = (event: TaskEvent, fence: number, attempt: number): boolean =>
  event.kind === 'started'
    ? event.fence === fence && event.attempt === attempt
    : event.kind === 'claimed' && event.attempt === attempt;
