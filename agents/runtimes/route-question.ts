import type { PrincipalId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type {
  Provenance,
  Score,
  Selection,
  Target as TaskTarget,
} from '../../fabric/domain/task.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import type { Directory } from '../../fabric/ports/directory.ts';
import type { TargetQuestion } from '../../router/resolve-target.ts';
import { Need, Target } from '../../router/target.ts';
import { barredFor } from './route-bars.ts';
import { wishOf } from './task-text.ts';

/** What somebody wants done, as far as the router reads it: of a task, or of one that is not submitted. */
export interface RouteWish {
  readonly target: TaskTarget;
  readonly submitterId: PrincipalId;
  readonly submitterRole: Provenance['submitterRole'];
  /** Agents above it, eldest first; none for what would be nobody's child. */
  readonly ancestors?: Provenance['ancestors'];
  readonly text: string;
  readonly caller: CallerClass;
  /** Of a task that is there; the same id breaks ties the same way. */
  readonly taskId?: string;
  readonly score?: Score;
  readonly deadlineAtMs?: number;
  /** A tier that somebody has found already. */
  readonly selection?: Selection;
  readonly contextRefs?: number;
}

interface Unrouted extends Pick<TaskState, 'task' | 'taskId' | 'score'> {
  readonly selection?: Selection | undefined;
  readonly deadlineAtMs?: number | undefined;
}

/** The wish of a task that waits for an agent, or would. */
export function routeWishOf(state: Unrouted): RouteWish {
  const { task, selection, deadlineAtMs } = state;
  const { submitter, submitterRole, ancestors } = task.provenance;
  return {
    ...{ target: task.target, submitterId: submitter, submitterRole, ancestors },
    ...{ text: wishOf(state), taskId: state.taskId, score: state.score },
    caller: task.mode === 'sync' ? 'interactive' : 'background',
    contextRefs: task.contextRefs.length,
    ...(deadlineAtMs !== undefined && { deadlineAtMs }),
    ...(selection && { selection }),
  };
}

/** The one question that a real choice, a dry run and `mesh why` put to the router. */
export function routeQuestion(directory: Directory, wish: RouteWish): TargetQuestion {
  const { submitterId: submitter, submitterRole, ancestors = [], selection } = wish;
  const { score = 0, deadlineAtMs, contextRefs } = wish;
  const verdict = selection?.tier && { tier: selection.tier, source: selection.source };
  return {
    target: toRouterTarget(wish.target),
    task: {
      ...{ taskId: wish.taskId ?? 'dry-run', submitterId: submitter, caller: wish.caller },
      ...(score > 0 && { score }),
      ...(deadlineAtMs !== undefined && { deadlineMs: deadlineAtMs }),
      ...(verdict && { verdict }),
      barred: barredFor(directory, { submitter, submitterRole, ancestors }),
    },
    text: wish.text,
    ...(contextRefs !== undefined && { hints: { contextRefs } }),
  };
}

/** A submit's target as the router reads it. */
function toRouterTarget(target: TaskTarget): Target {
  if (target.kind !== 'constraints') return Target.parse(target);
  const { skill, vision, minContextTokens, ...same } = target.need;
  const need = {
    ...same,
    ...(skill !== undefined && { caps: [skill] }),
    ...(vision === true && { modality: ['text' as const, 'image' as const] }),
    ...(minContextTokens !== undefined && { minContext: minContextTokens }),
  };
  return { kind: 'constraints', need: Need.parse(need) };
}
