import type { EventOf, TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { Durability } from '../../fabric/ports/task-board.ts';
import type { MemoryStore } from '../support/memory-store.ts';
import type { Chaos } from './chaos.ts';
import type { Weather } from './network.ts';
import type { OutsideWorld } from './outside-world.ts';
import type { People } from './people.ts';
import type { SimulatedProcess } from './process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface RivalsOptions {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly world: OutsideWorld;
  readonly store: MemoryStore;
  readonly people: People;
  readonly processOf: (incarnation: string) => SimulatedProcess | undefined;
  readonly chaos: Chaos;
}

/**
 * Brings a rival to a slot that is about to be written, at times: by chance alone two would meet in the
 * narrowest places only once in many thousand claims.
 */
export function provoke(
  options: RivalsOptions,
  uid: TaskId,
  event: TaskEvent,
  durability?: Durability,
): void {
  const { time, random, weather, people, chaos } = options;
  if (weather.isCalm) return;
  const roll = random.fraction();
  if (event.kind === 'expired') rouseHolder(options, uid, event, roll);
  if (event.kind === 'claimed') {
    if (durability === 'buffered' && roll > 0.96) {
      // Nothing of it is durable before the end of the run, or the next commit of this process.
      time.after(40 * random.fraction(), () => {
        chaos.kill(event.incarnation);
      });
    } else if (roll > 0.97) stopClaimer(options, event);
    else endOvertaken(options, uid);
  }
  if (event.by.role !== 'agent' || event.kind === 'submitted' || roll > 0.03) return;
  people.meddleWith(uid, roll < 0.015 ? 'cancel' : 'revoke');
}

/** While an observer gives a claim up, its holder wakes, or beats, or gets done. */
function rouseHolder(
  { time, random, weather, world, store, processOf }: RivalsOptions,
  uid: TaskId,
  { fence }: EventOf<'expired'>,
  roll: number,
): void {
  const holder = store.read(uid)?.state.claim?.incarnation ?? '';
  if (roll < 0.3) {
    processOf(holder)?.resume();
    weather.cutOff.delete(holder);
  } else if (roll < 0.6) {
    // A beat that was under way for long arrives just now.
    time.quietly(40 * random.fraction(), () => {
      store.beat(uid, fence, time.nowMs());
    });
  } else if (roll < 0.8) {
    weather.cutOff.delete(holder);
    world.hurry(uid, fence);
  }
}

/** Between its claim and its start a process is stopped, for less than a lease or more. */
function stopClaimer(
  { time, random, processOf }: RivalsOptions,
  { incarnation, leaseMs }: EventOf<'claimed'>,
): void {
  const stopMs = 1.5 * leaseMs * random.fraction();
  time.after(5, () => processOf(incarnation)?.stop(stopMs, 'stopped'));
}

/** A run that was overtaken without knowing it ends while the next one is under way. */
function endOvertaken({ time, weather, world }: RivalsOptions, uid: TaskId): void {
  for (const { fence, owner } of world.running().filter((execution) => execution.uid === uid)) {
    time.after(200, () => {
      weather.cutOff.delete(owner.incarnation);
      world.hurry(uid, fence);
    });
  }
}
