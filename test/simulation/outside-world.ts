import type { Effects } from '../../fabric/domain/trust.ts';
import type { Random } from '../../fabric/ports/random.ts';
import type { HistoryLine } from '../support/history-checker.ts';
import type { SimulatedProcess } from './process.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A program that a run started: a process of its own, which may live longer than its worker. */
export interface Execution {
  readonly uid: string;
  readonly fence: number;
  readonly effects: Effects;
  readonly owner: SimulatedProcess;
  readonly beganAtMs: number;
  toldAtMs: number | undefined;
  endedAtMs: number | undefined;
  hasActed: boolean;
}

export interface Spawned {
  readonly uid: string;
  readonly fence: number;
  readonly attempt: number;
  readonly effects: Effects;
  readonly isBuffered: boolean;
  readonly owner: SimulatedProcess;
  /** How long it works before it acts. */
  readonly workMs: number;
}

/** Everything outside the mesh: what runs there and what it did. */
export interface OutsideWorld {
  readonly history: HistoryLine[];
  /** Starts it; resolves in its owner, true once it acted, false when it was killed before. */
  spawn(spawned: Spawned, signal: AbortSignal): Promise<boolean>;
  /** Those that have not ended. */
  running(): readonly Execution[];
  /** It gets done just now, as if by chance. */
  hurry(uid: string, fence: number): void;
  /** Its owner is dead: half of them are gone with it, half go on. */
  orphan(owner: SimulatedProcess): void;
  readonly acts: { readonly uid: string; readonly fence: number; readonly isOrphan: boolean }[];
}

/** A told program dies within this time, by SIGKILL at the latest. */
const graceMs = 2_000;

export function outsideWorld(time: VirtualTime, random: Random): OutsideWorld {
  const history: HistoryLine[] = [];
  const live = new Set<Execution>();
  const finish = new Map<Execution, () => void>();
  const acts: OutsideWorld['acts'] = [];
  const end = (execution: Execution) => {
    execution.endedAtMs = time.nowMs();
    live.delete(execution);
    finish.delete(execution);
  };
  const act = (execution: Execution): boolean => {
    if (execution.endedAtMs !== undefined) return execution.hasActed;
    execution.hasActed = true;
    acts.push({ ...execution, isOrphan: execution.owner.isDead() });
    end(execution);
    return true;
  };
  return {
    history,
    acts,
    running: () => [...live],
    spawn({ workMs, attempt, isBuffered, ...what }, signal) {
      const { uid, fence, owner } = what;
      const beganAtMs = time.nowMs();
      const execution: Execution = {
        ...what,
        beganAtMs,
        toldAtMs: undefined,
        endedAtMs: undefined,
        hasActed: false,
      };
      live.add(execution);
      history.push({ op: 'spawn', uid, fence, attempt, ...(isBuffered ? { isBuffered } : {}) });
      return new Promise((resolve) => {
        const told = () => {
          execution.toldAtMs ??= time.nowMs();
          time.after(random.fraction() * graceMs, () => {
            end(execution);
            owner.deliver(0, () => {
              resolve(execution.hasActed);
            });
          });
        };
        const done = () => {
          const acted = act(execution);
          owner.deliver(1, () => {
            signal.removeEventListener('abort', told);
            resolve(acted);
          });
        };
        finish.set(execution, done);
        time.after(workMs, done);
        if (signal.aborted) told();
        else signal.addEventListener('abort', told, { once: true });
      });
    },
    hurry(uid, fence) {
      const execution = [...live].find((one) => one.uid === uid && one.fence === fence);
      if (execution) finish.get(execution)?.();
    },
    orphan(owner) {
      for (const execution of live) {
        if (execution.owner === owner && random.fraction() < 0.5) end(execution);
      }
    },
  };
}
