import type { TaskEvent } from '../../../fabric/domain/events.ts';
import { fold } from '../../../fabric/domain/fold.ts';
import type { TaskId } from '../../../fabric/domain/ids.ts';
import { limits } from '../../../fabric/domain/limits.ts';
import type { TaskBoard } from '../../../fabric/ports/task-board.ts';
import { checkHistory, type Breach, type HistoryLine } from '../history-checker.ts';
import type { BoardPlace } from './board-place.ts';
import { rawVersions } from './raw-versions.ts';
import { deedsOf, type Deed } from './world.ts';
import { writtenDown } from './written-down.ts';

type Logs = ReadonlyMap<TaskId, readonly TaskEvent[]>;

/** Every log as a board that knew nothing before reads it. */
export async function logsOn(board: TaskBoard, uids: Iterable<TaskId>): Promise<Logs> {
  const logs = new Map<TaskId, readonly TaskEvent[]>();
  for (const uid of uids) {
    const log = await board.read(uid);
    if (log) logs.set(uid, log.events);
  }
  return logs;
}

/** Everything that a stress may not have done: by the logs, the world outside, and what processes were told. */
export async function judgeStress(
  home: string,
  place: BoardPlace,
  logs: Logs,
): Promise<readonly Breach[]> {
  const deeds = deedsOf(home);
  const starts = deeds.filter(({ what }) => what === 'start');
  const history = [
    ...writtenDown(home),
    ...starts.map((deed): HistoryLine => ({ ...deed, op: 'spawn' })),
  ];
  const breaches = checkHistory(history, logs, { attempts: limits.attempts, isSettled: true });
  for (const [uid, events] of logs) {
    const report = (invariant: string, what: string) => breaches.push({ invariant, uid, what });
    const versions = await rawVersions(place, uid);
    if (versions.length !== versions.at(-1) || versions.length !== events.length) {
      report('SLOTS', `${events.length} events and the slots ${versions.join(', ')}`);
    }
    const own = deeds.filter((deed) => deed.uid === uid);
    const settled = events.find(({ kind }) => kind === 'settled');
    if (settled?.kind === 'settled' && !own.some(isActOf(settled.fence))) {
      report('WORLD', `settled by fence ${settled.fence}, which did nothing`);
    }
    if (fold(events)?.task.effects === 'external') lateDeeds(own, report);
  }
  return breaches;
}

const isActOf =
  (fence: number) =>
  (deed: Deed): boolean =>
    deed.what === 'act' && deed.fence === fence;

/** What acts outside: nothing by an older fence once a newer one has started, and no fence acts twice. */
function lateDeeds(
  deeds: readonly Deed[],
  report: (invariant: string, what: string) => void,
): void {
  let newest = 0;
  const acted = new Set<number>();
  for (const { what, fence } of deeds) {
    if (fence < newest) report('WORLD', `${what} of fence ${fence} after fence ${newest} started`);
    if (what === 'start') newest = Math.max(newest, fence);
    else if (acted.has(fence)) report('WORLD', `fence ${fence} acted twice`);
    else acted.add(fence);
  }
}
