/** a(t) of one agent at one instant: 1, or 0 with why and until when (`DESIGN.md` 9). */
export interface Availability {
  readonly a: 0 | 1;
  /** One sentence a term that is 0, for people: `60 of 60 requests used in 5 h`. Empty when a = 1. */
  readonly reasons: readonly string[];
  /** Ms since the epoch when it should be 1 again; absent: nobody knows, a probe or a person tells. */
  readonly untilMs?: number;
  /** No process of the mesh ever works for it: what waits for it is taken by a loop outside (`mesh task next`). */
  readonly outside?: true;
}

/** A caller waits, or nobody does: background work leaves the last share of a quota to those who wait. */
export type CallerClass = 'interactive' | 'background';

/** Whether an agent can work now. Never blocks on a network: probes fill its picture beforehand. */
export interface AvailabilityProbe {
  /** Without `caller`: for background work, as a worker asks it. */
  at(agentId: string, caller?: CallerClass): Availability;
}
