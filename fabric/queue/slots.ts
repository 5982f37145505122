/** Places for runs, counted per agent; sync and async runs of an agent share them. */
export interface Slots {
  /** Takes a place if one of `limit` is free; call the result once to give it back. */
  tryTake(agentId: string, limit: number): (() => void) | undefined;
  taken(agentId: string): number;
  /**
   * Calls back when a place of that agent gets free after somebody was refused one. Only then: who takes
   * a place, finds nothing to do and gives it back must not wake itself for ever.
   */
  onFree(agentId: string, callback: () => void): () => void;
}

export function createSlots(): Slots {
  const taken = new Map<string, number>();
  const waiting = new Map<string, Set<() => void>>();
  const refused = new Set<string>();
  const count = (agentId: string) => taken.get(agentId) ?? 0;
  return {
    taken: count,
    tryTake(agentId, limit) {
      if (count(agentId) >= limit) {
        refused.add(agentId);
        return undefined;
      }
      taken.set(agentId, count(agentId) + 1);
      let given = false;
      return () => {
        if (given) return;
        given = true;
        taken.set(agentId, count(agentId) - 1);
        if (!refused.delete(agentId)) return;
        for (const callback of waiting.get(agentId) ?? []) callback();
      };
    },
    onFree(agentId, callback) {
      const callbacks = waiting.get(agentId) ?? new Set();
      waiting.set(agentId, callbacks.add(callback));
      return () => callbacks.delete(callback);
    },
  };
}
