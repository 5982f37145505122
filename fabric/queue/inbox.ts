import { mayAnswer, mayVerify } from '../domain/access.ts';
import type { Principal } from '../domain/principal.ts';
import type { Phase, TaskState } from '../domain/state.ts';
import { humanFor } from '../domain/transition/questions.ts';
import type { QueueDeps } from './deps.ts';

/** Something that waits for one person: a question, a result to verify, a task to let in. */
export interface InboxItem {
  readonly kind: 'question' | 'verify' | 'admit';
  readonly state: TaskState;
}

const waitingPhases: readonly Phase[] = [
  'input-required',
  'needs-review',
  'done',
  'approved',
  'submitted',
  'suggested',
];

/** What waits for `principal`, urgent first, then eldest first; at most 200 of each page read. */
export async function inboxOf(
  deps: Pick<QueueDeps, 'board'>,
  principal: Principal,
): Promise<readonly InboxItem[]> {
  const page = await deps.board.find({
    principal: principal.id,
    phases: waitingPhases,
    limit: 500,
  });
  const items = page.states.flatMap((state) => {
    const kind = waitsFor(state, principal);
    return kind ? [{ kind, state }] : [];
  });
  return items.sort((a, b) => urgency(b) - urgency(a) || a.state.phaseAtMs - b.state.phaseAtMs);
}

/** Why a task waits for this person; undefined when it does not. */
export function waitsFor(state: TaskState, principal: Principal): InboxItem['kind'] | undefined {
  if (mayAnswer(state, principal)) return 'question';
  if (state.task.verification !== 'none' && mayVerify(state, principal)) return 'verify';
  const outside = state.phase === 'submitted' || state.phase === 'suggested';
  return outside && humanFor(state) === principal.id ? 'admit' : undefined;
}

const urgency = ({ state }: InboxItem): number =>
  (state.question?.urgent ? 2 : 0) + (state.priority === 1 ? 1 : 0);
