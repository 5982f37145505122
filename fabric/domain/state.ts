import type { TaskEvent } from './events.ts';
import type { AgentId, ContextId, DecisionId, PrincipalId, QueueId, TaskId } from './ids.ts';
import { limits } from './limits.ts';
import type {
  Claim,
  Outcome,
  Priority,
  Question,
  Score,
  Selection,
  TaskDefinition,
} from './task.ts';

/** Our states, the table of `DESIGN.md` 4.2. "Parked" is computed, not a phase. */
export const phases = [
  'suggested',
  'submitted',
  'ready',
  'scheduled',
  'paused',
  'claimed',
  'working',
  'waiting-event',
  'input-required',
  'needs-review',
  'done',
  'reviewing',
  'approved',
  'deploying',
  'deploy-failed',
  'verified',
  'refused',
  'dead-letter',
  'canceled',
  'rejected',
  'split',
  'archived',
] as const;
export type Phase = (typeof phases)[number];

/** An answered question, kept with who said what and when. */
export interface Decision {
  readonly decisionId: DecisionId;
  readonly kind: Question['kind'];
  readonly text: string;
  readonly value: string;
  readonly note?: string;
  readonly by: PrincipalId;
  readonly atMs: number;
}

/**
 * How a publication stands; merged monotonically, a differing digest or receipt is a conflict. `failed`: it
 * surely went nowhere. `unknown`: nobody can say, so it is never sent again.
 */
export interface Receipt {
  readonly status: 'prepared' | 'sending' | 'failed' | 'unknown' | 'published';
  readonly digest: string;
  /** When the status came about. */
  readonly atMs: number;
  readonly queueReceiptId?: string;
  readonly receiptId?: string;
}

/** The fold of a task's log. */
export interface TaskState {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  readonly task: TaskDefinition;
  /** How many events the log has; the next one is appended at `version + 1`. */
  readonly version: number;
  readonly phase: Phase;
  readonly queue: QueueId;
  readonly agentId?: AgentId;
  readonly selection?: Selection;
  readonly priority: Priority;
  readonly score: Score;
  readonly deadlineAtMs?: number;
  readonly notBeforeAtMs?: number;
  /** Started runs that count; parking and hand-backs give theirs back. */
  readonly attempts: number;
  /** Agent of the last started event: "own work in progress" in the order of taking. */
  readonly lastStartedBy?: PrincipalId;
  /** Whether it was ever claimed, so shown as WORKING: the A2A projection never falls back to SUBMITTED. */
  readonly everWorked: boolean;
  readonly claim?: Claim;
  readonly question?: Question;
  /** Where an answer returns it to. */
  readonly askedFrom?: Phase;
  /** Where it was paused before anybody had claimed it; absent: it was taken back from a run. */
  readonly pausedFrom?: Phase;
  readonly decisions: readonly Decision[];
  readonly awaitedEventId?: string;
  /** Why the last run could not go on, and until when nobody tries again. */
  readonly parked?: { readonly reason: string; readonly untilMs: number };
  /** Parks in a row, no other end of a run between them; absent: none. */
  readonly parks?: number;
  readonly outcome?: Outcome;
  /** Who made the outcome; never the one who verifies it. */
  readonly producer?: PrincipalId;
  readonly needsHumanVerify: boolean;
  readonly verdict?: {
    readonly by: PrincipalId;
    readonly atMs: number;
    readonly note?: string;
    readonly commit?: string;
  };
  readonly reworkedAs?: TaskId;
  readonly failure?: string;
  readonly cancelRequested: boolean;
  readonly revokeTo?: 'ready' | 'submitted' | 'paused';
  readonly receipts: Readonly<Record<string, Receipt>>;
  readonly notes: readonly {
    readonly messageId: string;
    readonly text: string;
    readonly by: PrincipalId;
    readonly atMs: number;
  }[];
  readonly links: readonly { readonly relation: string; readonly taskId: TaskId }[];
  readonly phaseBeforeArchive?: Phase;
  readonly submittedAtMs: number;
  /** When the phase last changed; the A2A status timestamp. */
  readonly phaseAtMs: number;
}

/** Why an event does not apply; a value, never thrown inside the core. */
export const refusalReasons = [
  'noTask',
  'alreadySubmitted',
  'wrongPhase',
  'notHolder',
  'staleFence',
  'wrongAttempt',
  'attemptsSpent',
  'notDue',
  'humanOnly',
  'notAddressee',
  'wrongDecision',
  'notAnOption',
  'decisionsFull',
  'notVerifier',
  'producerCannotVerify',
  'alreadyCompleted',
  'notReviewer',
  'notCanceler',
  'reworkNeeded',
  'receiptConflict',
  'versionsSpent',
  'notServedYet',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export type Transition =
  | { readonly ok: true; readonly state: TaskState }
  | { readonly ok: false; readonly reason: RefusalReason };

export const refuse = (reason: RefusalReason): Transition => ({ ok: false, reason });

/** The state after `event`, with version and, where it changed, the phase's instant. */
export function to(
  before: TaskState,
  event: TaskEvent,
  change: Partial<TaskState>,
  drop: readonly (keyof TaskState)[] = [],
): Transition {
  const phaseChanged = change.phase !== undefined && change.phase !== before.phase;
  const state = {
    ...before,
    ...change,
    version: before.version + 1,
    ...(phaseChanged ? { phaseAtMs: event.atMs } : {}),
  };
  for (const key of drop) Reflect.deleteProperty(state, key);
  return { ok: true, state };
}

/** Why its last run could not go on, where that still stands. */
export const standingPark = (
  { phase, parked }: Pick<TaskState, 'phase' | 'parked'>,
  nowMs: number,
): TaskState['parked'] => {
  const waits = phase === 'ready' || phase === 'scheduled';
  return waits && parked && parked.untilMs > nowMs ? parked : undefined;
};

/** Whether the log has room for another run: without it nobody claims the task, and the keeper gives it up. */
export const hasRoomForRun = ({ version }: Pick<TaskState, 'version'>): boolean =>
  version + limits.eventsOfRun < limits.reservedFromVersion;

/** Nothing is ever done to a task in one of these again, save links, receipts and archiving. */
export const closedPhases: ReadonlySet<Phase> = new Set<Phase>([
  'verified',
  'refused',
  'canceled',
  'rejected',
  'split',
  'archived',
]);

/** Made from tainted input, or made by an untrusted agent (`DESIGN.md` 4.4). */
export const isTainted = ({ task, outcome }: TaskState): boolean =>
  task.tainted || outcome?.tainted === true;

/** Phases in which nobody holds or has finished the task. */
export const unclaimedPhases: ReadonlySet<Phase> = new Set<Phase>([
  'suggested',
  'submitted',
  'ready',
  'scheduled',
]);
