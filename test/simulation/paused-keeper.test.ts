import { it } from 'vitest';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { createLeaseSweep } from '../../keeper/leases.ts';
import { keeper as by } from '../support/board-builders.ts';
import { crashCards } from '../support/crash-cards.ts';
import { manualClock } from '../support/manual-clock.ts';
import { memoryBoard } from '../support/memory-board.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { pauseKeeper } from '../support/stress/paused-keeper.ts';

const leaseMs = 60_000;

/** A promise that somebody else resolves. */
function latch<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolved) => (resolve = resolved));
  return { promise, resolve };
}

/** The board as the keeper has it: its word about a claim waits at the door. */
function heldAtTheDoor(board: TaskBoard) {
  const door = latch<undefined>();
  const arrived = latch<TaskId>();
  const answered = latch<string>();
  const held: TaskBoard = {
    ...board,
    async append(uid, version, event, durability) {
      arrived.resolve(uid);
      await door.promise;
      const answer = await board.append(uid, version, event, durability);
      answered.resolve(answer);
      return answer;
    },
  };
  return { held, door, arrived: arrived.promise, answered: answered.promise };
}

it('lets no keeper undo what came between its look and its word, in 1,000 rounds', async () => {
  const clock = manualClock();
  const random = seededRandom(16);
  const board = memoryBoard({ clock, random });
  const artifacts = { put: async () => '0'.repeat(64), get: async () => undefined };
  const own = { directory: crashCards('builder', leaseMs), artifacts, clock, random };
  const deps: QueueDeps = { ...own, board, log: recordingLog(), meshSecret: 'secret' };
  for (let round = 0; round < 1_000; round++) {
    const { held, door, arrived, answered } = heldAtTheDoor(board);
    const liveness = { isDead: async () => false };
    const { sweep } = createLeaseSweep({ ...deps, board: held }, { by, liveness });
    let swept: Promise<number> | undefined;
    await pauseKeeper(
      deps,
      {
        async stopped() {
          await sweep();
          await clock.advance(leaseMs);
          swept = sweep();
          await arrived;
        },
        async goesOn() {
          door.resolve(undefined);
          await swept;
          return answered;
        },
      },
      round,
    );
  }
});
