import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../../fabric/telemetry/system-random.ts';
import { builtProgram } from '../built-program.ts';
import type { FaultyProxy } from '../services/faulty-proxy.ts';
import type { RunningKanboard } from '../services/kanboard.ts';
import { hostOf, slots, type Slot, type Strike } from './nemesis-plan.ts';
import type { StressOrder } from './stress-order.ts';

export interface StressMesh {
  /** Carries a strike out; those at one place wait for each other. Resolves when it is over. */
  strike(strike: Strike): Promise<void>;
  /** Ends all strikes: everything lives, answers, and goes on. */
  calm(): Promise<void>;
  /** SIGKILL for all processes. */
  end(): Promise<void>;
}

export interface StressMeshOptions {
  readonly kanboard: RunningKanboard;
  readonly proxy: FaultyProxy;
  readonly order: Omit<StressOrder, 'slot' | 'host' | 'incarnation' | 'does'>;
}

/** The processes of a mesh, and all that can be done to them. */
export async function startStressMesh(options: StressMeshOptions): Promise<StressMesh> {
  const { kanboard, proxy, order } = options;
  const program = await builtProgram('stress-process');
  const living = new Map<Slot, ChildProcess>();
  const start = (slot: Slot): void => {
    const does = slot.startsWith('keep') ? 'keep' : 'work';
    const incarnation = systemRandom.hex(8);
    const own: StressOrder = { ...order, slot, host: hostOf(slot), incarnation, does };
    const stdio = ['ignore', 'ignore', 'inherit'] as const;
    living.set(
      slot,
      spawn(process.execPath, [program, JSON.stringify(own)], { stdio: [...stdio] }),
    );
  };
  onTestFinished(() => {
    for (const child of living.values()) child.kill('SIGKILL');
  });
  for (const slot of slots) start(slot);

  const wait = (ms: number) => systemClock.sleep(ms);
  const places = new Map<string, Promise<void>>();
  const inTurn = (place: string, work: () => Promise<void>): Promise<void> => {
    const after = (places.get(place) ?? Promise.resolve()).then(work);
    places.set(place, after);
    return after;
  };
  return {
    strike: (one) =>
      inTurn('slot' in one ? one.slot : 'board', async () => {
        switch (one.kind) {
          case 'kill':
            await killed(living.get(one.slot));
            await wait(one.forMs);
            start(one.slot);
            break;
          case 'stop':
            living.get(one.slot)?.kill('SIGSTOP');
            await wait(one.forMs);
            living.get(one.slot)?.kill('SIGCONT');
            break;
          case 'kill-board':
            await kanboard.kill();
            await wait(one.forMs);
            await kanboard.restart();
            break;
          case 'pause-board':
            kanboard.pause();
            await wait(one.forMs);
            kanboard.resume();
            break;
          case 'cut':
            await proxy.refuse();
            await wait(one.forMs);
            await proxy.accept();
            break;
        }
      }),
    async calm() {
      await Promise.all(places.values());
      proxy.clear();
    },
    async end() {
      await Promise.all([...living.values()].map(killed));
    },
  };
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
