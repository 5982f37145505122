import { isDeepStrictEqual } from 'node:util';
import { MeshError } from '../fabric/domain/errors.ts';
import type { Author, TaskEvent } from '../fabric/domain/events.ts';
import type { TaskState } from '../fabric/domain/state.ts';
import type { RunEnd } from '../fabric/ports/run-task.ts';
import { endOfClaim } from '../fabric/queue/finish.ts';
import type { HoldOptions } from './held-task.ts';
import type { MeshConnection } from './mesh-connection.ts';
import { shortId, taskNamed } from './task-ref.ts';

/** What a holder says at the end of its run. */
export type Ending = RunEnd | { readonly kind: 'released'; readonly reason: string };

/**
 * The task where this very fence has ended with this very end: an earlier try whose answer was lost got
 * through. Undefined where nothing of the kind is on record.
 * @throws MeshError `RECEIPT_CONFLICT` where it ended in another way
 */
export async function endedBefore(
  mesh: MeshConnection,
  ref: string,
  { fence, agent }: HoldOptions,
  end: Ending,
): Promise<TaskState | undefined> {
  if (fence === undefined) return undefined;
  const { uid, events, state } = await taskNamed(mesh, ref);
  const isHolder = ({ id, role }: Author) =>
    role === 'agent' && (agent === undefined || id === agent);
  const ended = endOfClaim(events, fence, isHolder);
  if (ended === undefined) return undefined;
  if (isSame(ended, end)) return state;
  throw new MeshError(
    'RECEIPT_CONFLICT',
    `Another end of fence ${fence} is on record for task ${shortId(uid)} already (${ended.kind}), and it stays. ` +
      `Nothing was changed; see \`mesh show ${shortId(uid)}\`.`,
    { taskId: uid },
  );
}

function isSame(event: TaskEvent, end: Ending): boolean {
  switch (end.kind) {
    case 'done':
      return event.kind === 'settled' && isSameOutcome(event.outcome, end.outcome);
    case 'asked':
      return event.kind === 'asked' && event.question.text === end.question.text;
    case 'failed':
      if (end.retryable) return event.kind === 'failed' && event.reason === end.reason;
      return event.kind === 'asked' && event.question.kind === 'escalation';
    case 'parked':
    case 'released':
      return event.kind === end.kind && event.reason === end.reason;
    default:
      return false;
  }
}

type Outcome = Extract<RunEnd, { kind: 'done' }>['outcome'];

/** Whether it is tainted is not the holder's to say. */
const isSameOutcome = (one: Outcome, other: Outcome): boolean =>
  one.summary === other.summary && isDeepStrictEqual([...one.artifacts], [...other.artifacts]);
