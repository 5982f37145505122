import type { TaskEvent } from '../domain/events.ts';
import type { TaskState } from '../domain/state.ts';
import { commentOn } from './task-comments.ts';

/**
 * As `commentOn`, where more people see the project than the task is for: what happens, and nothing that
 * anybody said (`DESIGN.md` 7). Its words are in the inbox of whom it is for, and in `mesh show`.
 */
export function discreetCommentOn(
  before: TaskState | undefined,
  event: TaskEvent,
  after: TaskState,
): string | undefined {
  switch (event.kind) {
    case 'claimed':
    case 'started':
    case 'deferred':
    case 'split':
      return commentOn(before, event, after);
    case 'settled':
      return '✅ Done. The result is with whom it is for.';
    case 'asked':
      return `❓ Waits for ${event.question.to.map((to) => `**${to}**`).join(' or ')}, who finds the question in their inbox.`;
    case 'failed':
    case 'expired':
      return `⚠️ Attempt ${after.attempts} did not end well.`;
    case 'parked':
      return before?.parks === undefined ? '⏸ Waits, and no attempt is counted.' : undefined;
    case 'uncertain':
      return '⚠️ It is not certain what this run did. A person looks at it before anything runs again.';
    case 'verified':
      return `✔ Verified by **${event.by.id}**.`;
    case 'refused':
      return `✖ **${event.by.id}** refused the result.`;
    case 'canceled':
      return `⏹ Canceled by **${event.by.id}**.`;
    case 'deadLettered':
      return '☠ Given up. Drag it to Ready to have it done anew, as a new task.';
    default:
      // Silence gives nothing away, so what is new is silent until it is thought of.
      return undefined;
  }
}
