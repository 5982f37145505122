import { maySee } from '../domain/access.ts';
import { partsOfContextRef } from '../domain/context-ref.ts';
import type { Principal } from '../domain/principal.ts';
import { isTainted, type TaskState } from '../domain/state.ts';
import type { TaskDefinition } from '../domain/task.ts';
import type { AgentPolicy } from '../ports/directory.ts';
import type { RunEnd } from '../ports/run-task.ts';
import type { TaskBoard } from '../ports/task-board.ts';

/** As many of a principal's newest tasks as a run looks through for an artifact (`context-refs.ts`). */
const mostSearched = 500;

/**
 * Whether one of the pointers leads to tainted work that a run for this submitter could read. What the
 * submitter may not see counts for nothing: it is not opened, and its taint is not to be guessed at.
 */
export async function namesTainted(
  board: Pick<TaskBoard, 'read' | 'resolve' | 'find'>,
  principal: Principal,
  contextRefs: TaskDefinition['contextRefs'],
): Promise<boolean> {
  const reader = { ...principal, scopes: new Set<never>() };
  for (const ref of contextRefs) {
    const { kind } = partsOfContextRef(ref);
    if (kind === 'task') {
      const uid = await board.resolve(ref);
      const named = uid === undefined ? undefined : (await board.read(uid))?.state;
      if (named && isTainted(named) && maySee(named, reader)) return true;
    }
    if (kind === 'artifact') {
      const { states } = await board.find({ principal: principal.id, limit: mostSearched });
      const made = ({ outcome }: TaskState) => outcome?.artifacts.some((one) => one.ref === ref);
      if (states.some((state) => isTainted(state) && made(state) && maySee(state, reader))) {
        return true;
      }
    }
  }
  return false;
}

/**
 * The end of a run with the taint it has: of an untrusted agent, of a tainted task, or of a child whose
 * result was tainted, since that was read on the way (`DESIGN.md` 4.4).
 */
export async function withTaint(
  board: Pick<TaskBoard, 'find'>,
  state: TaskState,
  { trust, mayCall }: Pick<AgentPolicy, 'trust' | 'mayCall'>,
  end: RunEnd,
): Promise<RunEnd> {
  if (end.kind !== 'done' || end.outcome.tainted) return end;
  const tainted =
    trust === 'untrusted' ||
    state.task.tainted ||
    (mayCall.length > 0 && (await hasTaintedChild(board, state)));
  return tainted ? { ...end, outcome: { ...end.outcome, tainted } } : end;
}

async function hasTaintedChild(
  board: Pick<TaskBoard, 'find'>,
  { taskId }: TaskState,
): Promise<boolean> {
  const { states } = await board.find({ parent: taskId, limit: 500 });
  return states.some(({ outcome }) => outcome?.tainted === true);
}
