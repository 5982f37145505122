import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { Log } from '../../fabric/ports/log.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { checkHistory, type Breach } from '../support/history-checker.ts';
import { memoryBoard, type BoardMethod, type Fate } from '../support/memory-board.ts';
import { memoryStore, type MemoryStore, type StoreListener } from '../support/memory-store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { simulatedCards } from './cards.ts';
import { startChaos } from './chaos.ts';
import { Judge } from './judge.ts';
import { startMeshProcess } from './mesh-process.ts';
import { networkOf, type Trouble, type Weather } from './network.ts';
import { outsideWorld } from './outside-world.ts';
import { simulatedPeople } from './people.ts';
import { provoke } from './rivals.ts';
import { simulatedProcess, type SimulatedProcess } from './process.ts';
import { WindowCounts, type RaceWindow } from './race-windows.ts';
import { virtualTime } from './virtual-time.ts';

/** One protective rule taken out, where that is done around the production code. */
export interface RuleBreaks {
  readonly board?: (board: TaskBoard) => TaskBoard;
  readonly store?: (listener: StoreListener) => MemoryStore;
  readonly meshSecret?: () => string;
}

export interface EpisodeOptions {
  readonly seed: number;
  readonly tasks: number;
  readonly breaks?: RuleBreaks;
  /** Ends soon after the storm, whatever is still under way. */
  readonly isCutShort?: boolean;
}

export interface EpisodeResult {
  readonly seed: number;
  readonly claims: number;
  readonly breaches: readonly Breach[];
  readonly windows: WindowCounts;
}

/** Faults go on for this long; then everything that may run has to get done. */
const stormMs = 6 * 60_000;
/** After that: three runs up to their time-out, their leases, what people take, and the worst wall clock. */
const recoveryMs = 120 * 60_000;
const shortRecoveryMs = 60_000;

/**
 * One mesh from its first submit to its last verdict, in virtual time and by one seed: three processes
 * with workers, edges and two keepers, people, a board behind a bad network. Everything between
 * `fabric/queue`, `keeper` and the store is the production code.
 */
export async function runEpisode({
  seed,
  tasks,
  breaks = {},
  isCutShort = false,
}: EpisodeOptions): Promise<EpisodeResult> {
  const random = seededRandom(seed);
  const fork = () => seededRandom(Math.floor(random.fraction() * 2 ** 32));
  const time = virtualTime();
  const windows = new WindowCounts();
  const world = outsideWorld(time, fork());
  const weather: Weather = { isCalm: false, cutOff: new Set() };
  const processes: SimulatedProcess[] = [];
  const troubles = new Map<string, Trouble>();
  const processOf = (incarnation: string) =>
    processes.find((process) => process.incarnation === incarnation);
  const judge = new Judge({
    time,
    world,
    windows,
    processOf,
    store: () => store,
    troubleOf: (incarnation) => troubles.get(incarnation),
  });
  const store = (breaks.store ?? memoryStore)(judge.listener);
  const cards = simulatedCards();
  const unavailable = new Set<string>();

  const boardOf = (process: SimulatedProcess): TaskBoard => {
    const trouble = { lastAtMs: -1 };
    troubles.set(process.incarnation, trouble);
    const onFate = (method: BoardMethod, fate: Fate) => {
      if (method !== 'append') return;
      if (fate.kind === 'doubled') windows.hit('duplicate-append');
      if (fate.kind === 'unanswered' && fate.doneMs > fate.answerMs) windows.hit('late-append');
    };
    const way = { time, random: fork(), weather, caller: process, trouble, onFate };
    const faults = networkOf(way);
    const writer = process.incarnation;
    const board = memoryBoard({ clock: process.clock, random: fork(), faults, store, writer });
    return watched((breaks.board ?? ((same) => same))(board));
  };
  const watched = (board: TaskBoard): TaskBoard => ({
    ...board,
    async append(uid, version, event, durability) {
      judge.sent(uid, event);
      provoke(rivals, uid, event, durability);
      const answer = await board.append(uid, version, event, durability);
      if (answer === 'appended' && durability !== 'buffered') {
        world.history.push({ op: 'appended', uid, version, token: event.token });
      }
      const window = lostAnswers[event.kind];
      if (answer === 'unknown' && window) windows.hit(window);
      return answer;
    },
  });
  const log = countingLog(windows);
  const meshSecret = breaks.meshSecret ?? (() => 'secret');
  const peopleProcess = simulatedProcess(time, {
    incarnation: 'people',
    host: 'c',
    random: fork(),
  });
  const people = simulatedPeople({
    deps: {
      board: boardOf(peopleProcess),
      directory: cards,
      artifacts: { put: async () => '0'.repeat(64), get: async () => undefined },
      clock: peopleProcess.clock,
      random: fork(),
      log,
      get meshSecret() {
        return meshSecret();
      },
    },
    random: fork(),
    tasks,
    history: world.history,
    isCalm: () => weather.isCalm,
    report: (what) => {
      judge.report('FAULT', '', what);
    },
  });
  const start = (slot: number, life: number): SimulatedProcess => {
    const host = slot === 2 ? 'b' : 'a';
    const process = simulatedProcess(time, {
      incarnation: `p${slot}-${life}`,
      host,
      random: fork(),
    });
    processes.push(process);
    process.onResume((awayMs) => {
      judge.wentOn(process, awayMs);
    });
    startMeshProcess({
      process,
      all: processes,
      board: boardOf(process),
      cards,
      random: fork(),
      log,
      world,
      judge,
      isKeeper: slot < 2,
      meshSecret: meshSecret(),
      isAvailable: (agentId) => !unavailable.has(agentId),
      isCalm: () => weather.isCalm,
    });
    return process;
  };
  people.start();
  const chaos = startChaos({
    time,
    random: fork(),
    weather,
    world,
    windows,
    store,
    cards,
    unavailable,
    stormMs,
    start,
  });
  const rivals = { time, random: fork(), weather, world, store, people, processOf, chaos };

  const isOver = () => weather.isCalm && people.hasSubmitted() && judge.openTasks === 0;
  await time.run(stormMs + (isCutShort ? shortRecoveryMs : recoveryMs), isOver);
  windows.hit('orphan-run', world.acts.filter(({ isOrphan }) => isOrphan).length);
  windows.hit('caller-told', world.history.filter(({ op }) => op === 'publish').length);
  const options = { attempts: 3, isSettled: !isCutShort };
  const breaches = [...judge.breaches, ...checkHistory(world.history, store.logs(), options)];
  return { seed, claims: judge.claims, breaches, windows };
}

const lostAnswers: Partial<Record<TaskEvent['kind'], RaceWindow>> = {
  claimed: 'answer-lost-claim',
  started: 'answer-lost-started',
  settled: 'answer-lost-outcome',
};

/** Counts what only a log line tells. */
function countingLog(windows: WindowCounts): Log {
  const quiet = () => undefined;
  return {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (event) => {
      if (event === 'run.discarded') windows.hit('stale-end');
    },
  };
}
