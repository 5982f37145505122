import type { Random } from '../../fabric/ports/random.ts';
import type { BoardMethod, Fate, Faults } from '../support/memory-board.ts';
import type { SimulatedProcess } from './process.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What the way to the board is like, for everybody at once. */
export interface Weather {
  /** Faults end here: from now on every call is executed once and answered soon. */
  isCalm: boolean;
  /** Incarnations that can't reach the board; `*` for all. */
  readonly cutOff: Set<string>;
}

/** When a process last had trouble that excuses it from knowing what the board says. */
export interface Trouble {
  lastAtMs: number;
}

interface NetworkOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly caller: SimulatedProcess;
  readonly trouble: Trouble;
  readonly onFate: (method: BoardMethod, fate: Fate) => void;
}

/** The way of one process to the board: slow at times, cut at times, and answers get lost on it. */
export function networkOf(options: NetworkOptions): Faults {
  const { time, caller, trouble } = options;
  return {
    fateOf(method) {
      const fate = fateOf(method, options);
      options.onFate(method, fate);
      const isBad = fate.kind === 'refused' || fate.kind === 'unanswered';
      if (isBad && method !== 'watch') trouble.lastAtMs = time.nowMs() + fate.answerMs;
      return fate;
    },
    inStore: (ms, execute) => {
      time.quietly(ms, execute);
    },
    inCaller: (ms, resume) => {
      caller.deliver(ms, resume);
    },
  };
}

function fateOf(method: BoardMethod, { random, weather, caller }: NetworkOptions): Fate {
  const { isCalm, cutOff } = weather;
  const latencyMs = 1 + random.fraction() * 20;
  if (isCalm) return { kind: 'answered', doneMs: latencyMs, answerMs: 2 * latencyMs };
  if (cutOff.has('*') || cutOff.has(caller.incarnation)) {
    return { kind: 'refused', answerMs: 20 + random.fraction() * 1_000 };
  }
  const slowMs = random.fraction() < 0.05 ? random.fraction() * 2_500 : 0;
  const doneMs = latencyMs + slowMs;
  const answerMs = doneMs + 1 + random.fraction() * 20;
  const roll = random.fraction();
  if (roll < 0.01) return { kind: 'refused', answerMs };
  if (method === 'watch') return { kind: 'answered', doneMs, answerMs };
  if (roll < 0.025) return { kind: 'unanswered', doneMs, answerMs };
  if (roll < 0.035) return { kind: 'unanswered', doneMs: doneMs + 3_000, answerMs: doneMs + 1_500 };
  if (roll < 0.041) {
    // Kept somewhere on the way, and executed when nobody remembers it.
    const longMs = 120_000 * random.fraction();
    return { kind: 'unanswered', doneMs: doneMs + longMs, answerMs: doneMs + 1_500 };
  }
  if (roll < 0.051) return { kind: 'doubled', doneMs, answerMs, againMs: answerMs + 800 };
  return { kind: 'answered', doneMs, answerMs };
}
