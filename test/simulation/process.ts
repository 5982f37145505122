import type { Clock } from '../../fabric/ports/clock.ts';
import type { Liveness } from '../../fabric/ports/liveness.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Epoch of all wall clocks: 2026-11-30T09:00Z. */
const startAtMs = Date.UTC(2026, 10, 30, 9, 0, 0);

/** One operating-system process: it lives, is stopped for a while, dies. */
export interface SimulatedProcess {
  readonly incarnation: string;
  readonly host: string;
  readonly clock: Clock;
  /** Runs `resume` in this process after `ms`: later if it is stopped then, never if it is dead. */
  deliver(ms: number, resume: () => void): void;
  /** SIGSTOP, or a suspended host, whose monotonic clock stands still meanwhile. */
  stop(ms: number, how: 'stopped' | 'suspended'): void;
  /** SIGCONT before its time. */
  resume(): void;
  stepWallClock(ms: number): void;
  die(): void;
  isDead(): boolean;
  isStopped(): boolean;
  /** Called when it goes on, with how long it was away. */
  onResume(callback: (awayMs: number) => void): void;
}

export interface ProcessOptions {
  readonly incarnation: string;
  readonly host: string;
  readonly random: Random;
}

/** A process whose clocks run up to half a percent off, and whose wall clock is up to 5 min off. */
export function simulatedProcess(
  time: VirtualTime,
  { incarnation, host, random }: ProcessOptions,
): SimulatedProcess {
  const rate = 1 + (random.fraction() - 0.5) / 100;
  let wallOffsetMs = Math.round((random.fraction() - 0.5) * 600_000);
  let suspendedMs = 0;
  let dead = false;
  let stopped: { readonly sinceMs: number; readonly isSuspended: boolean } | undefined;
  let waiting: (() => void)[] = [];
  const resumed: ((awayMs: number) => void)[] = [];
  const runHere = (run: () => void) => {
    if (dead) return;
    if (stopped === undefined) run();
    else waiting.push(run);
  };
  const resume = () => {
    if (stopped === undefined || dead) return;
    const awayMs = time.nowMs() - stopped.sinceMs;
    if (stopped.isSuspended) suspendedMs += awayMs;
    stopped = undefined;
    for (const callback of resumed) callback(awayMs);
    const due = waiting;
    waiting = [];
    // One by one: each is an instant of its own, as it was when they fell due.
    for (const run of due) {
      time.after(0, () => {
        runHere(run);
      });
    }
  };
  const clock: Clock = {
    nowMs: () => Math.round(startAtMs + wallOffsetMs + time.nowMs() * rate),
    monotonicMs: () => (time.nowMs() - suspendedMs) * rate,
    sleep: (ms, signal) => sleepIn(time, runHere, ms / rate, signal),
    after: (ms, due) => {
      let isOff = false;
      const off = time.after(ms / rate, () => {
        // It may have fallen due while the process was stopped, and been called off since.
        runHere(() => {
          if (!isOff) due();
        });
      });
      return () => {
        isOff = true;
        off();
      };
    },
  };
  return {
    incarnation,
    host,
    clock,
    deliver: (ms, resume) => void time.after(ms, () => runHere(resume)),
    stop(ms, how) {
      if (dead || stopped !== undefined) return;
      const own = { sinceMs: time.nowMs(), isSuspended: how === 'suspended' };
      stopped = own;
      time.after(ms, () => {
        if (stopped === own) resume();
      });
    },
    resume,
    stepWallClock: (ms) => {
      wallOffsetMs += ms;
    },
    die: () => {
      dead = true;
      waiting = [];
    },
    isDead: () => dead,
    isStopped: () => stopped !== undefined,
    onResume: (callback) => void resumed.push(callback),
  };
}

function sleepIn(
  time: VirtualTime,
  runHere: (run: () => void) => void,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const wake = () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const off = time.after(ms, () => {
      runHere(wake);
    });
    const abort = () => {
      off();
      resolve();
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Proof of death among the processes of one host, as their OS locks give it. */
export function livenessAmong(
  processes: readonly SimulatedProcess[],
  observer: SimulatedProcess,
): Liveness {
  return {
    incarnation: observer.incarnation,
    isDead: async (incarnation) =>
      processes.some(
        (other) =>
          other.incarnation === incarnation && other.host === observer.host && other.isDead(),
      ),
  };
}
