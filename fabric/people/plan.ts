import type { DecisionId } from '../domain/ids.ts';
import type { TaskState } from '../domain/state.ts';
import { hasEnded, reworkOf } from '../queue/rework.ts';
import type { Edit } from '../queue/steer.ts';

/** What somebody wants done with a task, in the words of the queue's use cases. */
export type Command =
  /** Into the queue: admitted, or no longer held. */
  | { readonly do: 'letIn' }
  /** Out of it: held where nobody runs it, else taken back from its run. */
  | { readonly do: 'takeBack'; readonly to: 'ready' | 'paused' }
  | { readonly do: 'edit'; readonly edit: Edit }
  | {
      readonly do: 'answer';
      readonly decisionId: DecisionId;
      readonly value: string;
      readonly note?: string;
    }
  | { readonly do: 'note'; readonly text: string }
  /** `refuse` with a rework, `rework` for what has ended; what was lacking is looked up among the comments. */
  | { readonly do: 'verify' | 'refuse' | 'rework' | 'archive' }
  | { readonly do: 'cancel'; readonly reason?: string };

/** What an act means; a refusal says why not and what to do instead. */
export type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'refusal'; readonly why: string }
  | { readonly kind: 'commands'; readonly commands: readonly Command[] };

export const nothing: Plan = { kind: 'nothing' };
export const refusal = (why: string): Plan => ({ kind: 'refusal', why });
export const command = (...commands: readonly Command[]): Plan => ({ kind: 'commands', commands });

/** Once more, as a new task: by a refusal where the result is still to be verified. */
export function planRework(state: TaskState): Plan {
  if (!hasEnded(state)) return command({ do: 'refuse' });
  return reworkOf(state) === undefined
    ? command({ do: 'rework' })
    : refusal('It was already sent to be done anew. Look for its rework, and drag that one.');
}

/** Whose answer it waits for, and how that is given. */
export function waitsFor({ question }: TaskState): string {
  if (question === undefined) return 'It waits for something outside. Close it to end it.';
  const whom = question.to.map((person) => `**${person}**`).join(' or ');
  const answers = question.options.length > 0 ? ` (${question.options.join(', ')})` : '';
  return (
    `It waits for an answer of ${whom}, and goes on by itself with it: comment \`/answer\` and your ` +
    `words${answers}. To end it, close it.`
  );
}
