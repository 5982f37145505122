import { maySee, maySteer } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { EventOf } from '../domain/events.ts';
import type { TaskId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { authorOf, type Principal, type Scope } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { requireScope } from './answer.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';

export type Edit = Pick<
  EventOf<'edited'>,
  'priority' | 'score' | 'deadlineAtMs' | 'notBeforeAtMs' | 'title' | 'body'
>;

/** What a person does with a task by hand, beside answering, verifying and canceling. */
export type Steering =
  | { readonly do: 'admit' | 'pause' | 'resume' | 'archive' }
  | { readonly do: 'deadletter'; readonly reason: string }
  | { readonly do: 'revoke'; readonly to: 'ready' | 'submitted' | 'paused' }
  | { readonly do: 'edit'; readonly edit: Edit };

/**
 * What each takes (`docs/protocol.md`): to say what is wanted and when, a submitter's scope; a person's yes to
 * what waits for one, that of answers; to hold work up or end it, a canceler's.
 */
export const steeringScopes: Readonly<Record<Steering['do'], Scope>> = {
  edit: 'tasks:submit',
  admit: 'tasks:answer',
  resume: 'tasks:answer',
  pause: 'tasks:cancel',
  revoke: 'tasks:cancel',
  archive: 'tasks:cancel',
  deadletter: 'tasks:cancel',
};

/**
 * Admits, pauses, resumes, archives, edits a task, gives it up or takes a running one back. People only, and only those
 * whose task it is: who may merely see it (a past answerer, a reader of all) may not.
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
  requireScope(principal, steeringScopes[steering.do]);
  const by = authorOf(principal);
  return change(deps, uid, ({ state }) => {
    if (!maySee(state, principal)) throw unknownTask(uid);
    if (!maySteer(state, principal)) throw notTheirs(principal, steering, uid);
    switch (steering.do) {
      case 'admit':
        return eventOf(deps, by, 'admitted', {});
      case 'pause':
        return eventOf(deps, by, 'paused', {});
      case 'resume':
        return eventOf(deps, by, 'resumed', {});
      case 'archive':
        return eventOf(deps, by, 'archived', {});
      case 'deadletter':
        return eventOf(deps, by, 'deadLettered', { reason: steering.reason });
      case 'revoke':
        return eventOf(deps, by, 'revokeRequested', { to: steering.to });
      case 'edit':
        requireWordable(state, steering.edit);
        return eventOf(deps, by, 'edited', steering.edit);
    }
  });
}

/** Another wording takes what a submit's does; what came in parts has no one text to be changed. */
function requireWordable({ task, taskId }: TaskState, { body }: Edit): void {
  if (body === undefined) return;
  if (task.parts !== undefined) {
    throw new MeshError(
      'VALIDATION_ERROR',
      `The text of task ${taskId} came in several parts and is not changed. Cancel it and submit another.`,
      { path: 'edit.body', taskId },
    );
  }
  const bytes = Buffer.byteLength(body);
  if (bytes <= limits.inlineBytes) return;
  throw new MeshError(
    'PAYLOAD_INLINE',
    `The text has ${bytes} bytes and at most ${limits.inlineBytes} may stand inline. Put it into a file, ` +
      'a repository or an artifact and name it by reference.',
    { path: 'edit.body', limitBytes: limits.inlineBytes },
  );
}

const notTheirs = (principal: Principal, steering: Steering, uid: TaskId): MeshError =>
  new MeshError(
    'TRUST_DENIED',
    `${principal.id} may not ${steering.do} task ${uid}: only its submitter, the person it is done for ` +
      'and administrators may. Ask one of them.',
    { taskId: uid },
  );

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
