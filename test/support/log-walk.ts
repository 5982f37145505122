import type { TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';

export interface CheckOptions {
  readonly attempts: number;
  /** Whether everything that may run has had its time: then no task may still be under way. */
  readonly isSettled: boolean;
}

/** A start outside, for the claim at `fence`. */
export interface Spawn {
  readonly fence: number;
  readonly attempt: number;
  readonly isBuffered: boolean;
}

const humanKinds = new Set(['gate', 'escalation', 'rating', 'deadline', 'reconcile', 'promotion']);
/** Ends of a run that count no attempt. */
const refunds = new Set(['parked', 'released', 'deferred', 'asked', 'revoked']);

/** Goes through one log with a few words of memory, and says what should not be there. */
export class LogWalk {
  hasEnded = false;
  readonly #events: readonly TaskEvent[];
  readonly #spawns: readonly Spawn[];
  readonly #attempts: number;
  readonly #report: (invariant: string, what: string) => void;
  #task: TaskDefinition | undefined;
  #effects: TaskDefinition['effects'] = 'none';
  #claim: { readonly fence: number; readonly holder: string; hasStarted: boolean } | undefined;
  #lastHolder: string | undefined;
  #producer: string | undefined;
  #counted = 0;
  #openStarts = 0;
  #cancelAsked = false;
  #question:
    | { readonly id: string | undefined; readonly to: readonly string[]; readonly kind: string }
    | undefined;

  constructor(
    events: readonly TaskEvent[],
    spawns: readonly Spawn[],
    { attempts }: CheckOptions,
    report: (invariant: string, what: string) => void,
  ) {
    this.#events = events;
    this.#spawns = spawns;
    this.#attempts = attempts;
    this.#report = report;
  }

  all(): void {
    this.#events.forEach((event, index) => {
      this.#fence(event);
      if (
        this.hasEnded &&
        !['linked', 'receipted', 'archived', 'verified', 'noted'].includes(event.kind)
      ) {
        this.#report('I4', `${event.kind} after its end`);
      }
      this.#step(event, index + 1);
    });
    for (const { fence, attempt } of this.#spawns.filter((spawn) => !spawn.isBuffered)) {
      const started = this.#events.some(
        (event) =>
          (event.kind === 'started' && event.fence === fence && event.attempt === attempt) ||
          (event === this.#events[fence - 1] &&
            event.kind === 'claimed' &&
            event.attempt === attempt),
      );
      if (!started)
        this.#report('I2', `fence ${fence} ran attempt ${attempt} that is not on record`);
    }
  }

  /** I3: nothing by a claim that is not the newest, or is over. */
  #fence(event: TaskEvent): void {
    if (!('fence' in event) || event.fence === undefined) return;
    if (event.fence !== this.#claim?.fence) {
      this.#report(
        'I3',
        `${event.kind} of fence ${event.fence} while ${this.#claim?.fence ?? 'nobody'} holds it`,
      );
    } else if (event.kind !== 'expired' && event.by.id !== this.#claim.holder) {
      this.#report('I3', `${event.kind} by ${event.by.id}, who does not hold it`);
    }
  }

  #step(event: TaskEvent, version: number): void {
    switch (event.kind) {
      case 'submitted':
        this.#task = event.task;
        this.#effects = event.task.effects;
        if (event.to === 'rejected') this.hasEnded = true;
        break;
      case 'routed':
        if (event.effects === 'external') this.#effects = 'external';
        break;
      case 'claimed':
        if (this.#claim)
          this.#report('I2', `claimed at ${version} while fence ${this.#claim.fence} holds it`);
        this.#claim = { fence: version, holder: event.holder, hasStarted: false };
        if (event.attempt !== undefined) this.#started(event.attempt, version);
        break;
      case 'started':
        this.#started(event.attempt, event.fence);
        break;
      case 'answered':
        this.#answered(event);
        break;
      case 'verified':
      case 'refused':
        if (event.by.id === this.#producer) this.#report('I6', `${event.kind} by its producer`);
        this.hasEnded = true;
        break;
      case 'reviewed':
        if (event.by.id === this.#producer) this.#report('I6', 'reviewed by its producer');
        break;
      case 'deadLettered':
        if (event.by.role === 'keeper' && this.#counted < this.#attempts) {
          this.#report('I5', `dead letter after ${this.#counted} attempts`);
        }
        this.#end(event);
        this.hasEnded = true;
        break;
      case 'cancelRequested':
        this.#cancelAsked = true;
        break;
      case 'settled':
      case 'failed':
      case 'expired':
      case 'parked':
      case 'released':
      case 'deferred':
      case 'uncertain':
      case 'revoked':
      case 'canceled':
        this.#end(event);
        break;
      case 'asked':
        if (event.fence !== undefined) this.#end(event);
        this.#question = {
          id: event.question.decisionId,
          to: event.question.to,
          kind: event.question.kind,
        };
        break;
      case 'split':
      case 'archived':
        this.hasEnded = true;
        break;
      default:
        break;
    }
    if (event.by.role === 'human' || event.kind === 'deferred') this.#openStarts = 0;
  }

  /** I2, I5: each start counts one, its number is the next, and outward work starts once. */
  #started(attempt: number, fence: number): void {
    if (attempt !== this.#counted + 1) {
      this.#report(
        'I5',
        `attempt ${attempt} at fence ${fence} after ${this.#counted} counted ones`,
      );
    }
    this.#counted += 1;
    if (this.#counted > this.#attempts) this.#report('I5', `attempt ${this.#counted} was started`);
    if (this.#claim) this.#claim.hasStarted = true;
    this.#lastHolder = this.#claim?.holder;
    const hasRun = this.#spawns.some((spawn) => spawn.fence === fence);
    if (this.#effects === 'external' && hasRun) {
      this.#openStarts += 1;
      if (this.#openStarts > 1) this.#report('I2', `outward work started again at fence ${fence}`);
    }
  }

  #end(event: TaskEvent): void {
    const claim = this.#claim;
    this.#claim = undefined;
    if (event.kind === 'canceled' && !claim?.hasStarted) {
      this.#question = undefined;
      this.hasEnded = true;
      return;
    }
    if (event.kind === 'settled') {
      this.#producer = claim?.holder;
      if (this.#task?.verification === 'none') this.hasEnded = true;
      return;
    }
    if (!claim?.hasStarted || event.kind === 'deadLettered') return;
    if (event.kind === 'uncertain' || this.#goesToReview(event)) {
      const { provenance, responsible } = this.#task ?? {};
      const to = provenance?.interlocutor ?? responsible;
      this.#question = { id: undefined, to: to === undefined ? [] : [to], kind: 'reconcile' };
      return;
    }
    if (refunds.has(event.kind)) this.#counted -= 1;
    if (event.kind === 'canceled' || this.#cancelAsked) this.hasEnded = true;
    const isLost = event.kind === 'expired' || event.kind === 'failed';
    if (isLost && this.#counted >= this.#attempts) this.hasEnded = true;
    if (event.kind === 'failed' && !event.retryable) this.hasEnded = true;
  }

  #goesToReview(event: TaskEvent): boolean {
    const plans = event.kind === 'asked' || event.kind === 'deferred';
    return this.#effects === 'external' && !plans;
  }

  /** I6: no question is passed without an answer to it, by one it was put to. */
  #answered(event: Extract<TaskEvent, { kind: 'answered' }>): void {
    const question = this.#question;
    this.#question = undefined;
    if (question === undefined) {
      this.#report('I6', `an answer by ${event.by.id} to no question`);
      return;
    }
    if (question.id !== undefined && question.id !== event.decisionId) {
      this.#report('I6', `an answer to ${event.decisionId} while ${question.id} was asked`);
    }
    if (!question.to.includes(event.by.id))
      this.#report('I6', `answered by ${event.by.id}, who was not asked`);
    const isGuarded =
      humanKinds.has(question.kind) || this.#effects === 'external' || this.#task?.tainted;
    if (isGuarded && event.by.role !== 'human')
      this.#report('I6', 'a person was asked and an agent answered');
    if (question.kind === 'reconcile') this.#reconciled(event.value);
    else if (event.value === 'cancel' || event.value === 'wider-tier') {
      if (question.kind !== 'question') this.hasEnded = true;
    }
  }

  #reconciled(value: string): void {
    if (value === 'ready') {
      this.#counted = 0;
      this.#cancelAsked = false;
    }
    if (value === 'dead-letter' || value === 'canceled') this.hasEnded = true;
    if (value !== 'done') return;
    this.#producer = this.#lastHolder;
    if (this.#task?.verification === 'none') this.hasEnded = true;
  }
}
