import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Run } from '../../fabric/ports/run-task.ts';
import { keepText } from '../../fabric/queue/finish.ts';
import { claimedBy, submittedEvent, type TaskOverrides } from './board-builders.ts';

export interface RecordedRun extends Run {
  readonly chunks: string[];
  readonly sentences: string[];
}

/** The state of a task that was submitted, lived through `events`, and is now run by its agent. */
export function runningState(
  task: TaskOverrides = {},
  events: readonly TaskEvent[] = [],
): TaskState {
  const submitted = submittedEvent(task);
  const before = fold([submitted, ...events]);
  const attempt = (before?.attempts ?? 0) + 1;
  const claimed = claimedBy(task.agentId ?? 'adolf', { attempt });
  const state = fold([claimed], before);
  if (state === undefined) throw new Error('The events made no task.');
  return state;
}

/** A run of `state` that keeps what it streamed; artifacts stay in memory. */
export function recordedRun(state: TaskState, { interactive = false } = {}): RecordedRun {
  const chunks: string[] = [];
  const sentences: string[] = [];
  const stored = new Map<string, string>();
  const put = (content: string | Uint8Array) => {
    const name = `${stored.size}`.padStart(64, '0');
    stored.set(name, content.toString());
    return Promise.resolve(name);
  };
  const artifacts = { put, get: () => Promise.resolve(undefined) };
  return {
    state,
    fence: state.claim?.fence ?? 0,
    attempt: state.attempts,
    agentId: state.agentId ?? '',
    interactive,
    chunk: (text) => void chunks.push(text),
    progress: (text) => void sentences.push(text),
    artifact: (name, mediaType, text) => keepText({ artifacts }, name, mediaType, text),
    chunks,
    sentences,
  };
}
