import type { TaskEvent } from '../../fabric/domain/events.ts';
import { LogWalk, type CheckOptions, type Spawn } from './log-walk.ts';

/**
 * One line of what the processes of a mesh tried and learned; written as JSONL by real processes. The
 * checker judges these lines and the board's logs by rules of its own: it knows nothing of `transition`.
 */
export type HistoryLine =
  | {
      readonly op: 'submit';
      readonly learned: 'ok' | 'fail' | 'unknown';
      readonly key: string;
      readonly uid?: string;
    }
  /** Something was started outside for this claim. */
  | {
      readonly op: 'spawn';
      readonly uid: string;
      readonly fence: number;
      readonly attempt: number;
      readonly isBuffered?: boolean;
    }
  /** A process told the world what a run brought. */
  | { readonly op: 'publish'; readonly uid: string; readonly fence: number }
  /** An append that was answered `appended`, durably. */
  | {
      readonly op: 'appended';
      readonly uid: string;
      readonly version: number;
      readonly token: string;
    };

export interface Breach {
  /** `I1` … `I8` of the reliability goals. */
  readonly invariant: string;
  readonly uid: string;
  readonly what: string;
}

type Logs = ReadonlyMap<string, readonly TaskEvent[]>;

/** Every breach of I1 to I6 and I8; empty when all is well. */
export function checkHistory(
  history: readonly HistoryLine[],
  logs: Logs,
  options: CheckOptions,
): Breach[] {
  const breaches: Breach[] = [];
  const spawned = new Map<string, Spawn[]>();
  checkLines(history, logs, spawned, breaches);
  for (const [uid, events] of logs) {
    const report = (invariant: string, what: string) => breaches.push({ invariant, uid, what });
    const walk = new LogWalk(events, spawned.get(uid) ?? [], options, report);
    walk.all();
    if (options.isSettled && !walk.hasEnded) {
      report('I8', `still under way after its last event, ${events.at(-1)?.kind ?? 'none'}`);
    }
  }
  return breaches;
}

function checkLines(
  history: readonly HistoryLine[],
  logs: Logs,
  spawned: Map<string, Spawn[]>,
  breaches: Breach[],
): void {
  const uidOfKey = new Map<string, string>();
  const published = new Map<string, number>();
  for (const line of history) {
    const report = (invariant: string, what: string) =>
      breaches.push({ invariant, uid: line.uid ?? '', what });
    switch (line.op) {
      case 'submit': {
        if (line.learned !== 'ok' || line.uid === undefined) break;
        const before = uidOfKey.get(line.key) ?? line.uid;
        if (before !== line.uid) report('I1', `${line.key} names ${before} too`);
        uidOfKey.set(line.key, line.uid);
        if (!logs.has(line.uid)) report('I1', 'acknowledged and not on the board');
        break;
      }
      case 'appended': {
        const there = logs.get(line.uid)?.[line.version - 1];
        if (there?.token !== line.token) report('I1', `acknowledged event ${line.version} is gone`);
        break;
      }
      case 'spawn': {
        const { fence, attempt, isBuffered = false } = line;
        const before = spawned.get(line.uid) ?? [];
        const isAgain = before.some((spawn) => spawn.fence === fence && !spawn.isBuffered);
        if (isAgain && !isBuffered) report('I2', `fence ${fence} was started twice`);
        spawned.set(line.uid, [...before, { fence, attempt, isBuffered }]);
        break;
      }
      case 'publish': {
        const before = published.get(line.uid);
        if (before !== undefined) report('I4', `published by fence ${before} and ${line.fence}`);
        published.set(line.uid, line.fence);
        const settled = logs.get(line.uid)?.find(({ kind }) => kind === 'settled');
        if (settled?.kind !== 'settled' || settled.fence !== line.fence) {
          report('I3', `fence ${line.fence} published what is not on record`);
        }
      }
    }
  }
}
