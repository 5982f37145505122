import { extensionUris } from '../../cards/agent-card/agent-card-source.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import type { Selection, Target } from '../../fabric/domain/task.ts';
import type { AgentPolicy } from '../../fabric/ports/directory.ts';
import { isRouter, type Edge } from './edge.ts';
import { invalidField } from './invalid-params.ts';
import type { SubmitExtension } from './submit-extension.ts';

const field = (name: string) => `params.message.metadata["${extensionUris.submit}"].${name}`;

/**
 * Where a submit goes. A router takes any target; everybody else only itself (`DESIGN.md` 6.2).
 * @throws InvalidParamsError
 */
export function targetOf(edge: Edge, extension: SubmitExtension | undefined): Target {
  const own: Target = { kind: 'agent', agentId: AgentId.parse(edge.agentId) };
  const asked = askedTarget(extension);
  if (isRouter(edge)) return isItself(edge, asked) ? { kind: 'auto' } : (asked ?? { kind: 'auto' });
  if (asked === undefined || isItself(edge, asked)) return own;
  throw invalidField(
    field(extension?.target === undefined ? 'constraints' : 'target'),
    `${edge.agentId} takes no target but itself; send this to the router`,
  );
}

function askedTarget(extension: SubmitExtension | undefined): Target | undefined {
  const { target, constraints } = extension ?? {};
  if (target === undefined || target === 'auto') {
    if (constraints) return { kind: 'constraints', need: constraints };
    return target === 'auto' ? { kind: 'auto' } : undefined;
  }
  if (constraints) throw invalidField(field('constraints'), 'goes only with the target auto');
  return typeof target === 'string' ? { kind: 'agent', agentId: target } : target;
}

const isItself = ({ agentId }: Edge, target: Target | undefined): boolean =>
  target?.kind === 'agent' && target.agentId === agentId;

/**
 * Model and effort that the submitter chose, checked against the Card's verified inventory before
 * anything is written; undefined where they chose none.
 * @throws MeshError `CAPABILITIES_STALE`, `INVALID_EFFECTIVE_PAIR`
 */
export function selectionOf(
  edge: Edge,
  target: Target,
  extension: SubmitExtension | undefined,
): Selection | undefined {
  const { model, effort, capabilityRevision } = extension?.execution ?? {};
  const agentId = target.kind === 'agent' ? target.agentId : undefined;
  const policy = agentId === undefined ? undefined : edge.queue.directory.agent(agentId);
  if (capabilityRevision !== undefined) checkRevision(policy, capabilityRevision);
  if (model === undefined && effort === undefined) return undefined;
  checkInventory(edge, agentId, model, effort);
  return {
    source: 'explicit',
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
}

/** The revision of what an agent can do is the commit its Card was read from. */
function checkRevision(policy: AgentPolicy | undefined, revision: string): void {
  if (policy?.commit.startsWith(revision)) return;
  throw new MeshError(
    'CAPABILITIES_STALE',
    `Capability revision ${revision} is not the one that is served. Read the Agent Card again and choose anew.`,
    { path: field('execution.capabilityRevision') },
  );
}

function checkInventory(
  edge: Edge,
  agentId: string | undefined,
  model: string | undefined,
  effort: string | undefined,
): void {
  const inventory = edge.registry.card(agentId ?? '')?.execution;
  const chosen = model ?? inventory?.defaults.model;
  const listed = inventory?.models.find(({ id }) => id === chosen);
  if (listed && (effort === undefined || listed.efforts.includes(effort))) return;
  throw new MeshError(
    'INVALID_EFFECTIVE_PAIR',
    `${agentId ?? 'A target that is not pinned'} does not offer model ${chosen ?? '(none)'} with effort ` +
      `${effort ?? '(default)'}. Choose a pair that its Agent Card lists, or leave execution out.`,
    { path: field('execution') },
  );
}
