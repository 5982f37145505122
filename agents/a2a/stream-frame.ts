import { z } from 'zod';
import { a2aViewOf, isResting } from '../../fabric/domain/a2a-state.ts';
import type { TaskState } from '../../fabric/domain/state.ts';

/**
 * One step of a task's stream as the journal keeps it. What a subscriber sees of it depends on who
 * they are, so a frame names the state by its version in the log and is drawn for each viewer.
 */
export const StreamFrame = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('state'), version: z.int().positive() }),
  /** The artifact at `index` of the outcome that the log has at `version`. */
  z.strictObject({
    kind: z.literal('artifact'),
    version: z.int().positive(),
    index: z.int().min(0),
  }),
  /** A piece of the answer; `first` begins it anew, as a second attempt does. */
  z.strictObject({ kind: z.literal('chunk'), text: z.string(), first: z.boolean() }),
  z.strictObject({ kind: z.literal('progress'), text: z.string() }),
]);
export type StreamFrame = z.infer<typeof StreamFrame>;

/** The frames that lead from one state of a task to a later one; none where nobody sees a difference. */
export function framesBetween(before: TaskState, after: TaskState): StreamFrame[] {
  const { version } = after;
  const frames: StreamFrame[] = [];
  if (after.outcome && before.outcome === undefined) {
    // An outcome without artifacts shows its summary as one.
    const count = Math.max(1, after.outcome.artifacts.length);
    for (let index = 0; index < count; index++) frames.push({ kind: 'artifact', version, index });
  }
  if (isSeen(before, after)) frames.push({ kind: 'state', version });
  return frames;
}

function isSeen(before: TaskState, after: TaskState): boolean {
  return (
    before.phase !== after.phase ||
    before.question?.decisionId !== after.question?.decisionId ||
    before.cancelRequested !== after.cancelRequested ||
    before.agentId !== after.agentId ||
    before.attempts !== after.attempts
  );
}

/** Frames at which somebody may act: they are committed before anybody gets them (`DESIGN.md` 6.1). */
export const rests = (state: TaskState): boolean => isResting(a2aViewOf(state));
