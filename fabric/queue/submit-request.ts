import type { TaskId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { Provenance, Target, TaskDefinition } from '../domain/task.ts';
import type { Durability } from '../ports/task-board.ts';

/** What a submitter says; everything about who they are comes from `principal`. */
export interface SubmitRequest {
  readonly principal: Principal;
  readonly target: Target;
  /** Names the task for good, with submitter and target; default at the edge: the messageId. */
  readonly idempotencyKey: string;
  readonly intent: TaskDefinition['intent'];
  readonly mode: TaskDefinition['mode'];
  readonly contextId?: string;
  readonly parts?: TaskDefinition['parts'];
  readonly messageId?: string;
  readonly acceptance?: string;
  /** What a refused result lacked; only a refusal's rework has it. */
  readonly correction?: string;
  readonly contextRefs?: TaskDefinition['contextRefs'];
  readonly selection?: TaskDefinition['selection'];
  readonly priority?: TaskDefinition['priority'];
  readonly score?: TaskDefinition['score'];
  readonly deadlineAtMs?: number;
  readonly notBeforeAtMs?: number;
  /** Absent: `none`, as for every foreign client. `card`: as the Card of the agent that does it says. */
  readonly verification?: TaskDefinition['verification'] | 'card';
  readonly effects?: TaskDefinition['effects'];
  /** A task the submitter may see; a run's own credential names its parent by itself. */
  readonly parent?: TaskId;
  readonly relation?: Provenance['relation'];
  /** `buffered` only for a waiting call, whose id is not out yet. */
  readonly durability?: Durability;
}
