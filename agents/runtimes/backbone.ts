import type { Card } from '../../cards/schema/card.ts';
import type { Run } from '../../fabric/ports/run-task.ts';
import { decide } from '../../router/decide.ts';
import type { ModelCandidate } from '../../router/model-candidate.ts';
import type { RouterSnapshot } from '../../router/router-snapshot.ts';
import type { CallerClass } from '../../fabric/ports/availability.ts';
import { Target } from '../../router/target.ts';

export type BackboneAnswer =
  | { readonly kind: 'chosen'; readonly model: ModelCandidate }
  /** No model can be had now. */
  | { readonly kind: 'none'; readonly reason: string; readonly untilMs?: number };

export const callerOf = ({ interactive }: Pick<Run, 'interactive'>): CallerClass =>
  interactive ? 'interactive' : 'background';

/**
 * The model that a run works on: the one its selection froze, else what the router decides now for this
 * agent. A frozen one that is away is waited for, never silently replaced.
 */
export function backboneFor(
  card: Card,
  run: Run,
  snapshot: RouterSnapshot,
  nowMs: number,
): BackboneAnswer {
  const frozen = run.state.selection?.model;
  if (frozen !== undefined && card.model?.gateway !== frozen) {
    return frozenModel(frozen, snapshot);
  }
  const { state } = run;
  const task = {
    taskId: state.taskId,
    submitterId: state.task.provenance.submitter,
    caller: callerOf(run),
    ...(state.score > 0 && { score: state.score }),
    ...(state.deadlineAtMs !== undefined && { deadlineMs: state.deadlineAtMs }),
  };
  const target = Target.parse({ kind: 'agent', agentId: card.id });
  const decision = decide(task, target, snapshot, nowMs);
  if (decision.do !== 'route') {
    const untilMs = decision.do === 'park' ? decision.untilMs : undefined;
    return none(decision.reasons.join('; '), untilMs);
  }
  const model = snapshot.candidates.get(decision.backbone?.modelAgentId ?? '');
  return model?.kind === 'model'
    ? { kind: 'chosen', model }
    : none(`${card.id} has neither a model of its own nor needs; add one of them to its Card`);
}

function frozenModel(frozen: string, { candidates, availability }: RouterSnapshot): BackboneAnswer {
  const model = [...candidates.values()].find(
    (one) => one.kind === 'model' && (one.gatewayModel === frozen || one.agentId === frozen),
  );
  if (model?.kind !== 'model') return none(`its model ${frozen} is not registered any more`);
  const now = availability.get(model.agentId);
  if (now?.a === 0) return none(`${model.agentId}: ${now.reasons.join('; ')}`, now.untilMs);
  return { kind: 'chosen', model };
}

const none = (reason: string, untilMs?: number): BackboneAnswer => ({
  kind: 'none',
  reason,
  ...(untilMs !== undefined && { untilMs }),
});
