import type { A2aState } from '../domain/a2a-state.ts';
import type { TaskEvent } from '../domain/events.ts';
import type { ContextId, QueueId, TaskId } from '../domain/ids.ts';
import type { Phase, TaskState } from '../domain/state.ts';

/** A task's log as read: events from v1 on, without gaps. */
export interface TaskLog {
  readonly uid: TaskId;
  readonly events: readonly TaskEvent[];
  /** The fold of `events`. */
  readonly state: TaskState;
  /** Beats of the claim at `version`. */
  readonly beats: Beats | undefined;
  /** The board's own name and address of it, where it has one. */
  readonly ref?: { readonly boardTaskId: string; readonly url?: string };
}

export interface Beats {
  readonly version: number;
  /** Begins anywhere; only its change means anything. */
  readonly count: number;
  /** When the last one came, by the store's clock (ms), for people; absent: none since the store was opened. */
  readonly lastAtMs?: number;
}

/** How long an append waits. `buffered` answers before the commit: only for what lets nobody act. */
export type Durability = 'committed' | 'buffered';

export type Appended = 'appended' | 'conflict' | 'unknown';

/** What `find` looks for; every given field narrows. */
export interface TaskQuery {
  /** Tasks that concern this principal: submitter, interlocutor, addressee, holder or verifier. */
  readonly principal?: string;
  /** With `principal`: also what any reviewer may verify. */
  readonly reviewer?: boolean;
  readonly contextId?: ContextId;
  readonly agentId?: string;
  readonly queue?: QueueId;
  readonly parent?: TaskId;
  readonly phases?: readonly Phase[];
  /** Only tasks that show as this to somebody who may not verify them (`a2a-state.ts`). */
  readonly shownAs?: A2aState;
  /** Only tasks under a claim, for the sweep of leases. */
  readonly leasesOnly?: boolean;
  /** Only tasks that have not ended for the world outside (`a2a-state.ts`): not done unverified for good, not closed. */
  readonly openOnly?: boolean;
  /** Deadline at or before this instant (ms). */
  readonly dueBeforeMs?: number;
  /** Phase changed at or after this instant (ms). */
  readonly changedSinceMs?: number;
  /** Ended for the world outside (an A2A state that is final) before this instant (ms). */
  readonly endedBeforeMs?: number;
  /** At least so many events, for the sweep of logs that are nearly full; from 256 on it costs only its hits. */
  readonly minVersion?: number;
  /** Submitted by this principal at or after this instant: the creation quota. */
  readonly submittedBy?: { readonly id: string; readonly sinceMs: number };
  readonly cursor?: string;
  /** 1..500. */
  readonly limit: number;
}

/** Newest phase change first, task id as tie-break. */
export interface TaskPage {
  readonly states: readonly TaskState[];
  /** Absent on the last page. */
  readonly cursor?: string;
  readonly total: number;
}

/** What people see of a task; made by the event's author, idempotent, never decides anything. */
export interface TaskView {
  readonly state: TaskState;
  readonly comment?: string;
}

/**
 * Task logs. A slot (uid, version) is written at most once and then stays (`DESIGN.md` 4.1). One
 * contract suite runs on every adapter. Every method rejects with BoardUnavailableError (code
 * `FABRIC_DOWN`) when the store can't be reached or refuses to write; then nothing was acknowledged.
 */
export interface TaskBoard {
  /**
   * Puts `event` into slot `version` of `uid`. `appended`: durable (for `buffered`: in order, and
   * durable with the group it falls into). `conflict`: somebody else wrote that slot: read again,
   * decide again. `unknown`: read before anything else. A repeat of the same event (same token) in
   * its own slot says `appended`. The adapter checks no rule of the table 4.4: its caller has.
   */
  append(
    uid: TaskId,
    version: number,
    event: TaskEvent,
    durability?: Durability,
  ): Promise<Appended>;
  /** The log as of now, including buffered events of this process; undefined for an unknown uid. */
  read(uid: TaskId): Promise<TaskLog | undefined>;
  /**
   * The log as far as this process knows it by itself, without asking a store elsewhere that may be slow or
   * away: what work at once is decided on. Of its own sync work that is all there is.
   */
  known(uid: TaskId): Promise<TaskLog | undefined>;
  /** Likely candidates of a queue, best first: claimable and due at `nowMs`. A hint. */
  list(queue: QueueId, nowMs: number, limit: number): Promise<readonly TaskId[]>;
  /** Why nothing at all is taken from it, as far as is known without asking it; only a board that can be held has it. */
  frozen?(): Promise<string | undefined>;
  find(query: TaskQuery): Promise<TaskPage>;
  /** `<uid>`, `task:<uid>`, a unique prefix of at least 6 digits, or the board's own ref. */
  resolve(taskRef: string): Promise<TaskId | undefined>;
  /**
   * Liveness of the claim at `version`, nothing else. Cheap; may be buffered. What others have written to the
   * task by then is `known` after it.
   */
  beat(uid: TaskId, version: number): Promise<void>;
  /** Calls back after changes, of this process and, as far as known, of others. Hints; may be lost. */
  watch(onChange: (uid: TaskId, state: TaskState) => void): () => void;
  /**
   * Shows the task on a board that people look at. Only a board of that kind has it to do: the embedded and
   * the remote one show nothing, and nobody calls it there.
   */
  show(uid: TaskId, view: TaskView): Promise<void>;
  /** Depth and oldest age of each queue's waiting tasks, for metrics. */
  depths(): Promise<readonly QueueDepth[]>;
  /**
   * Resolves when everything that `read` has shown so far is durable; rejects when some of it was lost.
   * Costs nothing where nothing is under way.
   */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueDepth {
  readonly queue: QueueId;
  readonly phase: Phase;
  readonly count: number;
  /** When the eldest of them was submitted (ms). */
  readonly oldestAtMs: number;
}
