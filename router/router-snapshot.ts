import type { Availability } from '../fabric/ports/availability.ts';
import type { MeteredBudget } from './metered-grant.ts';
import type { Candidate } from './model-candidate.ts';

/**
 * Everything outside the task that a decision depends on, taken at one instant: the same snapshot always
 * decides the same. Filled by I/O beforehand, never during.
 */
export interface RouterSnapshot {
  readonly commit: string;
  readonly candidates: ReadonlyMap<string, Candidate>;
  /** a(t) of each candidate alone, without its backbone and without any opt-in. Absent: available. */
  readonly availability: ReadonlyMap<string, Availability>;
  /** By agent id. */
  readonly budgets: ReadonlyMap<string, MeteredBudget>;
  /** Model agents that are loaded now. */
  readonly warm: ReadonlySet<string>;
  /** Share of the fullest quota window that is used, 0..1, by model agent; absent: no quota. */
  readonly pressure: ReadonlyMap<string, number>;
}
