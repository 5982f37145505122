import { expect } from 'vitest';
import type { TaskEvent } from '../../../fabric/domain/events.ts';
import type { TaskId } from '../../../fabric/domain/ids.ts';
import { openCrashHome, submitCrashTask } from '../crash-home.ts';
import { checkHistory, type HistoryLine } from '../history-checker.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { BoardPlace } from './board-place.ts';
import { startLineProcess, type LineProcess } from './line-process.ts';
import { RivalsReport, type RivalsOrder } from './rivals-order.ts';
import { rawVersions } from './raw-versions.ts';
import { deedsOf } from './world.ts';

export interface Contest {
  readonly place: BoardPlace;
  readonly processes: number;
  readonly rivalsEach: number;
  readonly tasks: number;
}

const agentId = 'sender';
const leaseMs = 120_000;

/**
 * Lets all rivals go for each task at the same instant, task after task, and sees that each was started once:
 * by what was done in the world outside, and by the logs as a process reads them that knew nothing before.
 */
export async function holdContest({ place, processes, rivalsEach, tasks }: Contest): Promise<void> {
  const home = await temporaryFolder();
  const { board, deps } = await openCrashHome(home, agentId, leaseMs, place);
  const uids: TaskId[] = [];
  for (let n = 0; n < tasks; n++) uids.push(await submitCrashTask(deps, agentId, `Task ${n}`));
  await board.close();

  const order = { kanboard: place, home, rivals: rivalsEach };
  const all = await Promise.all(
    Array.from({ length: processes }, (_, n) => startRivals({ ...order, name: `rivals-${n}` })),
  );
  const reports: RivalsReport[] = [];
  for (const uid of uids) reports.push(...(await Promise.all(all.map((one) => race(one, uid)))));
  for (const { child } of all) child.kill('SIGKILL');

  await expectEachStartedOnce(home, place, uids);
  const sum = (of: 'won' | 'lost') => reports.reduce((total, report) => total + report[of], 0);
  expect(sum('won')).toBe(tasks);
  // Else nobody contended, and the rest proves nothing.
  expect(sum('lost')).toBeGreaterThanOrEqual(tasks);
}

async function startRivals(order: RivalsOrder): Promise<LineProcess> {
  const rivals = await startLineProcess('claim-rivals', order);
  expect(await rivals.nextLine()).toBe('ready');
  return rivals;
}

async function race(rivals: LineProcess, uid: TaskId): Promise<RivalsReport> {
  rivals.tell(uid);
  return RivalsReport.parse(JSON.parse(await rivals.nextLine()));
}

async function expectEachStartedOnce(
  home: string,
  place: BoardPlace,
  uids: readonly TaskId[],
): Promise<void> {
  const { board } = await openCrashHome(home, agentId, leaseMs, place);
  const logs = new Map<TaskId, readonly TaskEvent[]>();
  for (const uid of uids) logs.set(uid, (await board.read(uid))?.events ?? []);
  await board.close();
  const starts = deedsOf(home).filter(({ what }) => what === 'start');
  expect(starts.map(({ uid }) => uid).sort()).toEqual([...uids].sort());
  for (const [uid, events] of logs) {
    expect(events.map(({ kind }) => kind)).toEqual(['submitted', 'claimed', 'started', 'settled']);
    expect(await rawVersions(place, uid)).toEqual([1, 2, 3, 4]);
  }
  const spawns = starts.map((deed): HistoryLine => ({ ...deed, op: 'spawn' }));
  expect(checkHistory(spawns, logs, { attempts: 1, isSettled: false })).toEqual([]);
}
