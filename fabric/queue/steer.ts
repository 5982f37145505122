import { maySee } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { EventOf } from '../domain/events.ts';
import type { TaskId } from '../domain/ids.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';

export type Edit = Pick<EventOf<'edited'>, 'priority' | 'score' | 'deadlineAtMs' | 'notBeforeAtMs'>;

/** What a person does with a task by hand, beside answering, verifying and canceling. */
export type Steering =
  | { readonly do: 'admit' | 'pause' | 'resume' | 'archive' }
  | { readonly do: 'revoke'; readonly to: 'ready' | 'submitted' | 'paused' }
  | { readonly do: 'edit'; readonly edit: Edit };

/**
 * Admits, pauses, resumes, archives, edits a task or takes a running one back. People only.
 * @throws MeshError `NOT_FOUND`, `TRUST_DENIED`, `BAD_TRANSITION`
 */
export async function steerTask(
  deps: QueueDeps,
  principal: Principal,
  uid: TaskId,
  steering: Steering,
): Promise<TaskState> {
  if (principal.role !== 'human') {
    throw new MeshError('TRUST_DENIED', `Only a person may ${steering.do} a task.`, {
      taskId: uid,
    });
  }
  const by = authorOf(principal);
  return change(deps, uid, ({ state }) => {
    if (!maySee(state, principal)) throw unknownTask(uid);
    switch (steering.do) {
      case 'admit':
        return eventOf(deps, by, 'admitted', {});
      case 'pause':
        return eventOf(deps, by, 'paused', {});
      case 'resume':
        return eventOf(deps, by, 'resumed', {});
      case 'archive':
        return eventOf(deps, by, 'archived', {});
      case 'revoke':
        return eventOf(deps, by, 'revokeRequested', { to: steering.to });
      case 'edit':
        return eventOf(deps, by, 'edited', steering.edit);
    }
  });
}

/** Stores a follow-up message; it changes no state. Once per messageId. */
export async function noteMessage(
  deps: QueueDeps,
  principal: Principal,
  uid: TaskId,
  message: { readonly messageId: string; readonly text: string },
): Promise<TaskState> {
  return change(deps, uid, ({ state }) => {
    if (!maySee(state, principal)) throw unknownTask(uid);
    if (state.notes.some((note) => note.messageId === message.messageId)) return undefined;
    return eventOf(deps, authorOf(principal), 'noted', message);
  });
}
