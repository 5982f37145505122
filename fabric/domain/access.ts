import type { Principal } from './principal.ts';
import { closedPhases, type TaskState } from './state.ts';
import { humanFor } from './transition/questions.ts';

/**
 * Who may see a task: submitter, interlocutor (where it is done for nobody, the responsible human, who has
 * to admit it and to answer for it), holder, addressee of its open question, named verifiers, principals
 * with `tasks:read-all`. Everybody else gets the answer of an unknown id.
 * `ownerOfParent` = the submitter of the parent task, where the caller of this looked it up.
 */
export function maySee(state: TaskState, who: Principal, ownerOfParent?: string): boolean {
  if (who.scopes.has('tasks:read-all')) return true;
  const { provenance } = state.task;
  return (
    who.id === provenance.submitter ||
    who.id === provenance.interlocutor ||
    who.id === humanFor(state) ||
    who.id === state.claim?.holder ||
    who.id === state.lastStartedBy ||
    who.id === ownerOfParent ||
    (state.question?.to.includes(who.id) ?? false) ||
    state.decisions.some((decision) => decision.by === who.id) ||
    isVerifier(state, who)
  );
}

/** The question is open and addressed to them. */
export function mayAnswer(state: TaskState, who: Principal): boolean {
  return who.scopes.has('tasks:answer') && (state.question?.to.includes(who.id) ?? false);
}

/** May say verified or refused now: done, not its producer, and named by the policy (`DESIGN.md` 4.3). */
export function mayVerify(state: TaskState, who: Principal): boolean {
  if (state.phase !== 'done' && state.phase !== 'approved') return false;
  return who.scopes.has('tasks:verify') && isVerifier(state, who);
}

/**
 * Named by the policy: `human` and what is tainted: the human it is done for; else that human and its
 * submitter; with `reviewer` also each agent whose Card makes it one. Never its producer.
 */
function isVerifier(state: TaskState, who: Principal): boolean {
  if (who.id === state.producer) return false;
  if (state.outcome === undefined) return false;
  const { provenance } = state.task;
  const human = humanFor(state);
  if (state.needsHumanVerify) return who.role === 'human' && who.id === human;
  if (who.id === human) return true;
  if (who.id === provenance.submitter) return true;
  return who.reviewer === true && isForReviewers(state);
}

/** Whether any agent that is a reviewer may see and verify it. */
export const isForReviewers = ({ task, outcome, needsHumanVerify }: TaskState): boolean =>
  task.verification === 'reviewer' && outcome !== undefined && !needsHumanVerify;

/** What a board is asked for, so that it finds whatever concerns `who`: never more than they may see. */
export const concerning = ({ id, reviewer = false }: Principal) => ({ principal: id, reviewer });

/** Submitter, interlocutor, its human, or an administrator, while it is open. */
export function mayCancel(state: TaskState, who: Principal): boolean {
  if (closedPhases.has(state.phase)) return false;
  if (!who.scopes.has('tasks:cancel')) return false;
  return who.id === state.task.provenance.submitter || maySteer(state, who);
}

/** Whose task it is, among people: its submitter, the human it is done for, its human, an administrator. */
export function maySteer(state: TaskState, who: Principal): boolean {
  if (who.role !== 'human') return false;
  const { submitter, interlocutor } = state.task.provenance;
  const own = [submitter, interlocutor, humanFor(state)];
  return own.includes(who.id) || who.scopes.has('admin');
}
