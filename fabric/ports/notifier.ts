import type { TaskState } from '../domain/state.ts';

/** Tells a person that something waits for them. Best effort; silence never approves anything. */
export interface Notifier {
  notify(person: string, about: TaskState, sentence: string): Promise<void>;
}
