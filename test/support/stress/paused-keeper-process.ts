import { expect } from 'vitest';
import { openCrashHome } from '../crash-home.ts';
import type { CrashOrder } from '../crash-order.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { BoardPlace } from './board-place.ts';
import { startLineProcess } from './line-process.ts';
import { pauseKeeper } from './paused-keeper.ts';

/** Nobody beats in these rounds, so a claim is silent from its start on. */
const leaseMs = 400;

/** Rounds with a keeper that is a process of its own, stopped and resumed by the kernel, on a real Kanboard. */
export async function pauseKeeperProcess(place: BoardPlace, rounds: number): Promise<void> {
  const home = await temporaryFolder();
  const { board, deps } = await openCrashHome(home, 'builder', leaseMs, place);
  const order: CrashOrder = {
    ...{ home, incarnation: 'cee9e4cee9e40001', agentId: 'builder', leaseMs },
    ...{ kanboard: place, keeps: true, workMs: 0 },
  };
  const keeper = await startLineProcess('crash-keeper', order);
  await keeper.nextLine();
  const lineAbout = async (start: string): Promise<string> => {
    const line = await keeper.nextLine();
    expect(line.slice(0, start.length)).toBe(start);
    return line.slice(start.length);
  };
  for (let round = 0; round < rounds; round++) {
    await pauseKeeper(
      deps,
      {
        async stopped(uid) {
          await lineAbout(`stopping ${uid}`);
        },
        goesOn(uid) {
          keeper.child.kill('SIGCONT');
          return lineAbout(`went on ${uid}: `);
        },
      },
      round,
    );
  }
  keeper.child.kill('SIGKILL');
  await board.close();
}
