import type { DecisionId, PrincipalId } from '../../domain/ids.ts';
import type { TaskState } from '../../domain/state.ts';
import type { PersonAct } from '../../kanboard/people/person-act.ts';
import type { Directory } from '../../ports/directory.ts';

/** An act on a board task of somebody's inbox, and what it meets. */
export interface ActSituation {
  readonly did: PersonAct['did'];
  /** Kanboard's user name of who acted. */
  readonly username: string;
  /** Whose inbox it is. */
  readonly human: PrincipalId;
  readonly state: TaskState;
  /** Which question or result the board task is for; undefined for a task in its person's own queue. */
  readonly key: string | undefined;
  /** What they last wrote on it that was no command. */
  readonly lastWords: string | undefined;
  readonly directory: Directory;
}

/** What an act amounts to; a refusal is said once, and a drag that decided nothing is put back. */
export type InboxPlan =
  | { readonly do: 'nothing' }
  | {
      readonly do: 'answer';
      readonly decisionId: DecisionId;
      readonly value: string;
      readonly note?: string;
    }
  | { readonly do: 'verify'; readonly verdict: 'verified' | 'refused'; readonly note?: string }
  /** A person's own task, done by what they wrote. */
  | { readonly do: 'finish'; readonly text: string }
  | { readonly do: 'refuse'; readonly why: string; readonly putBack: boolean };

export const nothing: InboxPlan = { do: 'nothing' };
export const refuse = (why: string, putBack: boolean): InboxPlan => ({
  do: 'refuse',
  why,
  putBack,
});
