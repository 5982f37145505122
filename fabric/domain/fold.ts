import type { TaskEvent } from './events.ts';
import type { TaskState } from './state.ts';
import { transition } from './transition.ts';

/** A log that holds an event its own state refuses: written by a fault of ours or by somebody else. */
export class BrokenLogError extends Error {
  readonly version: number;

  constructor(version: number, reason: string) {
    super(`The log's event ${version} does not apply: ${reason}. Stop and let a person look.`);
    this.name = 'BrokenLogError';
    this.version = version;
  }
}

/**
 * The state that a log adds up to; undefined for an empty one. `from` is the state after earlier
 * events, so that a longer log need not be folded anew.
 * @throws BrokenLogError where an event does not apply
 */
export function fold(events: readonly TaskEvent[], from?: TaskState): TaskState | undefined {
  let state = from;
  for (const event of events) {
    const next = transition(state, event);
    if (!next.ok) throw new BrokenLogError((state?.version ?? 0) + 1, next.reason);
    state = next.state;
  }
  return state;
}
