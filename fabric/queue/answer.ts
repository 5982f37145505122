import { maySee } from '../domain/access.ts';
import { MeshError } from '../domain/errors.ts';
import type { DecisionId, TaskId } from '../domain/ids.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { Decision, TaskState } from '../domain/state.ts';
import type { Constraints } from '../domain/task.ts';
import type { Tier } from '../domain/trust.ts';
import { change, eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';
import { unknownTask } from './refusals.ts';
import { submitTask } from './submit.ts';

export interface Answer {
  readonly principal: Principal;
  readonly uid: TaskId;
  readonly decisionId: DecisionId;
  readonly value: string;
  readonly note?: string;
}

/**
 * Answers exactly one question. The same answer again is a no-op; another one, an old question or
 * somebody else's is refused. Silence and time never answer.
 * @throws MeshError `NOT_FOUND`, `STALE_DECISION`, `TRUST_DENIED`, `VALIDATION_ERROR`
 */
export async function answerQuestion(deps: QueueDeps, answer: Answer): Promise<TaskState> {
  const { principal, uid, decisionId } = answer;
  requireScope(principal, 'tasks:answer');
  const state = await change(deps, uid, (log) => {
    if (!maySee(log.state, principal)) throw unknownTask(uid);
    const given = log.state.decisions.find((decision) => decision.decisionId === decisionId);
    if (given) {
      requireSameAnswer(given, answer);
      return undefined;
    }
    return eventOf(deps, authorOf(principal), 'answered', {
      decisionId,
      value: answer.value,
      ...(answer.note === undefined ? {} : { note: answer.note }),
    });
  });
  const decision = state.decisions.find((given) => given.decisionId === decisionId);
  const widened = decision?.kind === 'escalation' && decision.value === 'wider-tier';
  return widened ? escalate(deps, answer, state) : state;
}

function requireSameAnswer(given: Decision, { principal, value }: Answer): void {
  if (given.value === value && given.by === principal.id) return;
  throw new MeshError(
    'STALE_DECISION',
    `Question ${given.decisionId} was answered "${given.value}" by ${given.by} before; an answer is not changed.`,
    { path: 'decisionId' },
  );
}

const wider: Readonly<Record<Tier, Tier>> = {
  small: 'medium',
  medium: 'large',
  large: 'reasoning',
  reasoning: 'reasoning',
};

/** The same intent with a wider tier, as a new task of the same family that a person asked for. */
async function escalate(deps: QueueDeps, answer: Answer, state: TaskState): Promise<TaskState> {
  const { task } = state;
  const tier = state.selection?.tier ?? deps.directory.agent(state.agentId ?? '')?.tier ?? 'small';
  const next = await submitTask(deps, {
    principal: answer.principal,
    target: { kind: 'constraints', need: { ...needOf(task), tier: wider[tier] } },
    idempotencyKey: `escalation:${answer.decisionId}`,
    intent: task.intent,
    mode: 'async',
    contextId: state.contextId,
    ...(task.parts ? { parts: task.parts } : {}),
    ...(task.acceptance === undefined ? {} : { acceptance: task.acceptance }),
    contextRefs: task.contextRefs,
    verification: task.verification,
    effects: task.effects,
    priority: state.priority,
    ...(state.deadlineAtMs === undefined ? {} : { deadlineAtMs: state.deadlineAtMs }),
    ...(task.correction === undefined ? {} : { correction: task.correction }),
    parent: state.taskId,
    relation: 'escalation',
  });
  return linkOnce(deps, state.taskId, 'escalation', next.state.taskId);
}

/** What the target had to have beside its tier: skills, trust, what it may cost. */
const needOf = ({ target }: TaskState['task']): Constraints =>
  target.kind === 'constraints' ? target.need : {};

/** Notes a related task on this one, once. */
export async function linkOnce(
  deps: QueueDeps,
  uid: TaskId,
  relation: 'child' | 'rework' | 'escalation' | 'split',
  taskId: TaskId,
): Promise<TaskState> {
  return change(deps, uid, ({ state }) =>
    state.links.some((link) => link.taskId === taskId)
      ? undefined
      : eventOf(deps, { id: state.task.responsible, role: 'fabric' }, 'linked', {
          relation,
          taskId,
        }),
  );
}

/** @throws MeshError `TRUST_DENIED` where the credential lacks the scope */
export function requireScope(
  principal: Principal,
  scope: Parameters<Principal['scopes']['has']>[0],
): void {
  if (principal.scopes.has(scope)) return;
  throw new MeshError(
    'TRUST_DENIED',
    `The credential of ${principal.id} lacks the scope ${scope}. Make one that has it: mesh token create.`,
    { scope },
  );
}
