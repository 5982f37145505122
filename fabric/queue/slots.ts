import type { TaskId } from '../domain/ids.ts';

/** One place, taken: before its task is known, while that one runs, and until what it left is on record. */
export interface Slot {
  /** Whose run the place is for, once that is known. */
  holdFor(uid: TaskId): void;
  /** More than once does no harm. */
  giveBack(): void;
}

/** Places for runs, counted per agent; sync and async runs of an agent share them. */
export interface Slots {
  /** Takes a place if one of `limit` is free. */
  tryTake(agentId: string, limit: number): Slot | undefined;
  taken(agentId: string): number;
  /**
   * Places that runs of other tasks than `uid` have: what that task may have to wait for. Not its own, which
   * outlives its run by the time that putting the end on record takes, nor one that is only being filled.
   */
  takenByOthers(agentId: string, uid: TaskId): number;
  /**
   * Calls back when a place of that agent gets free after somebody was refused one. Only then: who takes
   * a place, finds nothing to do and gives it back must not wake itself for ever.
   */
  onFree(agentId: string, callback: () => void): () => void;
}

interface Holder {
  uid?: TaskId;
}

export function createSlots(): Slots {
  const holders = new Map<string, Set<Holder>>();
  const waiting = new Map<string, Set<() => void>>();
  const refused = new Set<string>();
  const holdersOf = (agentId: string) => {
    const known = holders.get(agentId) ?? new Set();
    holders.set(agentId, known);
    return known;
  };
  return {
    taken: (agentId) => holders.get(agentId)?.size ?? 0,
    takenByOthers(agentId, uid) {
      const others = [...(holders.get(agentId) ?? [])].filter((one) => one.uid !== uid);
      return others.filter((one) => one.uid !== undefined).length;
    },
    tryTake(agentId, limit) {
      const taken = holdersOf(agentId);
      if (taken.size >= limit) {
        refused.add(agentId);
        return undefined;
      }
      const holder: Holder = {};
      taken.add(holder);
      return {
        holdFor(uid) {
          holder.uid = uid;
        },
        giveBack() {
          if (!taken.delete(holder) || !refused.delete(agentId)) return;
          for (const callback of waiting.get(agentId) ?? []) callback();
        },
      };
    },
    onFree(agentId, callback) {
      const callbacks = waiting.get(agentId) ?? new Set();
      waiting.set(agentId, callbacks.add(callback));
      return () => callbacks.delete(callback);
    },
  };
}
