import type { Random } from '../../fabric/ports/random.ts';
import type { MemoryStore } from '../support/memory-store.ts';
import { agentIds, type SimulatedCards } from './cards.ts';
import type { Weather } from './network.ts';
import type { OutsideWorld } from './outside-world.ts';
import type { SimulatedProcess } from './process.ts';
import type { WindowCounts } from './race-windows.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ChaosOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly world: OutsideWorld;
  readonly windows: WindowCounts;
  readonly store: MemoryStore;
  readonly cards: SimulatedCards;
  readonly unavailable: Set<string>;
  readonly stormMs: number;
  /** Starts the process of a slot, in its so-manieth life. */
  readonly start: (slot: number, life: number) => SimulatedProcess;
}

const slots = [0, 1, 2] as const;
const processMs = 25_000;

export interface Chaos {
  /** That process dies now, and comes back under another name. */
  kill(incarnation: string): void;
}

/** Kills, stops, cuts off and confuses the processes until `stormMs`, then makes everything well. */
export function startChaos(options: ChaosOptions): Chaos {
  const { time, random, weather, unavailable, stormMs } = options;
  const living = new Map<number, SimulatedProcess>();
  const lives = new Map<number, number>();
  const bear = (slot: number) => {
    const life = (lives.get(slot) ?? 0) + 1;
    lives.set(slot, life);
    if (life > 1) options.windows.hit('restart');
    living.set(slot, options.start(slot, life));
  };
  const killIn = (slot: number) => {
    const victim = living.get(slot);
    if (victim === undefined || victim.isDead()) return;
    kill(options, victim);
    time.after(500 + 15_000 * random.fraction(), () => {
      bear(slot);
    });
  };
  for (const slot of slots) bear(slot);
  const strike = () => {
    if (weather.isCalm) return;
    const slot = slots[Math.floor(random.fraction() * slots.length)]!;
    const victim = living.get(slot);
    if (victim && !victim.isDead()) strikeAt(options, victim, () => killIn(slot));
    time.after(processMs * random.fraction(), strike);
  };
  time.after(processMs * random.fraction(), strike);
  disturbAll(options);
  time.after(stormMs, () => {
    weather.isCalm = true;
    weather.cutOff.clear();
    unavailable.clear();
    for (const process of living.values()) process.resume();
  });
  return {
    kill(incarnation) {
      const slot = slots.find((one) => living.get(one)?.incarnation === incarnation);
      if (slot !== undefined && !weather.isCalm) killIn(slot);
    },
  };
}

function strikeAt(options: ChaosOptions, victim: SimulatedProcess, killIt: () => void): void {
  const { time, random, weather, windows, world } = options;
  const isBusy = world.running().some(({ owner }) => owner === victim);
  const roll = random.fraction();
  if (roll < 0.3) {
    killIt();
  } else if (roll < 0.55) {
    victim.stop(90_000 * random.fraction(), 'stopped');
  } else if (roll < 0.65) {
    if (isBusy) windows.hit('suspend-past-lease');
    victim.stop(60_000 + 120_000 * random.fraction(), 'suspended');
  } else if (roll < 0.85) {
    weather.cutOff.add(victim.incarnation);
    time.after(90_000 * random.fraction(), () => weather.cutOff.delete(victim.incarnation));
  } else if (!victim.isStopped()) {
    if (isBusy) windows.hit('clock-step');
    // Forward only: a clock that is set back while its host sleeps hides the sleep from everybody.
    victim.stepWallClock(600_000 * random.fraction());
  }
}

function kill({ store, world, windows }: ChaosOptions, victim: SimulatedProcess): void {
  for (const { claim } of store.find({ leasesOnly: true, limit: 500 }).states) {
    if (claim?.incarnation !== victim.incarnation) continue;
    windows.hit(claim.started ? 'crash-after-started' : 'crash-before-started');
  }
  victim.die();
  store.lose(victim.incarnation);
  world.orphan(victim);
}

/** What meets everybody: the board away, quotas used up, Cards changed by a commit. */
function disturbAll(options: ChaosOptions): void {
  const { time, random, weather, world, windows, cards, unavailable } = options;
  const again = (ms: number, disturb: () => void) => {
    time.after(ms * random.fraction(), () => {
      if (weather.isCalm) return;
      disturb();
      again(ms, disturb);
    });
  };
  again(200_000, () => {
    if (world.running().length > 0) windows.hit('outage');
    weather.cutOff.add('*');
    time.after(40_000 * random.fraction(), () => weather.cutOff.delete('*'));
  });
  again(150_000, () => {
    const agentId = agentIds[Math.floor(random.fraction() * agentIds.length)]!;
    unavailable.add(agentId);
    time.after(40_000 * random.fraction(), () => unavailable.delete(agentId));
  });
  again(120_000, () => {
    const agentId = agentIds[Math.floor(random.fraction() * agentIds.length)]!;
    const isOpen = random.fraction() < 0.8;
    windows.hit('card-reload');
    cards.reload(agentId, {
      concurrency: 1 + Math.floor(random.fraction() * 3),
      admit: isOpen ? ['human', 'trusted'] : [],
    });
  });
}
