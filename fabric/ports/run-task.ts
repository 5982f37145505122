import type { TaskState } from '../domain/state.ts';
import type { Outcome, Question, ResultArtifact } from '../domain/task.ts';

/** What one run of a persona gets to know. */
export interface Run {
  readonly state: TaskState;
  readonly fence: number;
  readonly attempt: number;
  readonly agentId: string;
  /** A caller waits for it: interactive use of a quota, streamed chunks are seen at once. */
  readonly interactive: boolean;
  /** A piece of the answer; bounded, best effort, never taken for completion. */
  chunk(text: string): void;
  /** A sentence about what it is doing now. */
  progress(text: string): void;
  /** Whole texts go here: up to 8 KiB stay inline, more becomes `artifact:<sha256>`. */
  artifact(name: string, mediaType: string, text: string): Promise<ResultArtifact>;
}

/** How a run ended; a closed list. It rejects only for a bug of ours. */
export type RunEnd =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | { readonly kind: 'asked'; readonly question: AskedByRun }
  /** `retryable`: the same again may work; else it is a failure on its tier and becomes a question. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryable: boolean }
  /** A wall before or during the run that says nothing about the task: no attempt counted. */
  | { readonly kind: 'parked'; readonly reason: string; readonly untilMs?: number }
  | { readonly kind: 'deferred'; readonly wakeAtMs: number }
  | { readonly kind: 'awaited'; readonly eventId: string }
  /** Nobody can say what it did. */
  | { readonly kind: 'uncertain'; readonly reason: string }
  /** It stopped because it was told to; what follows is the teller's business. */
  | { readonly kind: 'stopped' };

/**
 * A run's question; the fabric adds its id and the addressee: the submitter (clarifications only, and only
 * where the submitter may answer them), the human the task is done for, or the persona itself where it is
 * a person.
 */
export type AskedByRun = Pick<Question, 'text' | 'options'> & {
  readonly to: 'submitter' | 'human' | 'self';
  readonly kind: 'question' | 'gate' | 'escalation';
  readonly urgent?: boolean;
};

/** Runs a persona on a task until it ends or `signal` aborts; resolves at most a grace time after that. */
export type RunTask = (run: Run, signal: AbortSignal) => Promise<RunEnd>;
