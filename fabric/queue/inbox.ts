import { concerning, mayAnswer, mayVerify } from '../domain/access.ts';
import type { Principal } from '../domain/principal.ts';
import type { TaskState } from '../domain/state.ts';
import { humanFor } from '../domain/transition/questions.ts';
import type { TaskBoard, TaskQuery } from '../ports/task-board.ts';
import type { QueueDeps } from './deps.ts';

/** Something that waits for one person: a question, a result to verify, a task to let in or one given up. */
export interface InboxItem {
  readonly kind: 'question' | 'verify' | 'admit' | 'givenUp';
  readonly state: TaskState;
}

/** One question each, so that many of one kind never push another out of sight. */
const lookups: readonly Pick<TaskQuery, 'phases' | 'openOnly'>[] = [
  { phases: ['input-required', 'needs-review'] },
  // Results that nobody was asked to verify are done for good, and there are thousands of them.
  { phases: ['done', 'approved'], openOnly: true },
  { phases: ['submitted', 'suggested'] },
  { phases: ['dead-letter'] },
];

const pageSize = 500;

/** All that waits for `principal`, urgent first, then eldest first. */
export async function inboxOf(
  { board }: Pick<QueueDeps, 'board'>,
  principal: Principal,
): Promise<readonly InboxItem[]> {
  const found = await Promise.all(
    lookups.map((lookup) => everyPage(board, { ...lookup, ...concerning(principal) })),
  );
  const items = found.flat().flatMap((state) => {
    const kind = waitsFor(state, principal);
    return kind ? [{ kind, state }] : [];
  });
  // People act on it: no crash may take back what they see.
  await board.flush();
  return items.sort((a, b) => urgency(b) - urgency(a) || a.state.phaseAtMs - b.state.phaseAtMs);
}

async function everyPage(
  board: TaskBoard,
  query: Omit<TaskQuery, 'limit' | 'cursor'>,
): Promise<readonly TaskState[]> {
  const states: TaskState[] = [];
  let cursor: string | undefined;
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await board.find({ ...query, ...from, limit: pageSize });
    states.push(...page.states);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return states;
}

/** Why a task waits for this person; undefined when it does not. */
export function waitsFor(state: TaskState, principal: Principal): InboxItem['kind'] | undefined {
  if (mayAnswer(state, principal)) return 'question';
  if (state.task.verification !== 'none' && mayVerify(state, principal)) return 'verify';
  if (humanFor(state) !== principal.id) return undefined;
  if (state.phase === 'dead-letter') return 'givenUp';
  return state.phase === 'submitted' || state.phase === 'suggested' ? 'admit' : undefined;
}

const urgency = ({ state }: InboxItem): number =>
  (state.question?.urgent ? 2 : 0) + (state.priority === 1 ? 1 : 0);
