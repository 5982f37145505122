import type { TaskState } from '../../fabric/domain/state.ts';

/**
 * Whose privacy a task stands in: the human it is done for, else who submitted it. Each human is a domain
 * of their own (`DESIGN.md` 7); what a run is shown never crosses from one to another.
 */
export const ownerOf = ({ task: { provenance } }: TaskState): string =>
  provenance.interlocutor ?? provenance.submitter;

/** Whether what `other` says may be shown to a run of `state`. */
export function isSharedWith(state: TaskState, other: TaskState): boolean {
  return ownerOf(other) === ownerOf(state);
}
