import { extensionUris } from '../cards/agent-card/agent-card-source.ts';
import { InvalidValueError } from '../fabric/domain/errors.ts';
import { AgentId } from '../fabric/domain/ids.ts';
import { Target } from '../fabric/domain/task.ts';
import type { SubmissionOptions } from './submission-options.ts';
import { atMsOf, requireOrder } from './text/points-in-time.ts';

export interface SubmissionFacts {
  readonly nowMs: number;
  /** Names the task for good, with submitter and target. */
  readonly messageId: string;
  /** Who verifies where no option says it; absent: whom the agent's Card names. */
  readonly verification?: string;
  /** Resolved `--parent`. */
  readonly parent?: string;
}

/** A submit, ready for the wire. */
export interface Submission {
  /** The pinned agent; absent: the front's router chooses. */
  readonly agentId?: string;
  readonly messageId: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/**
 * A1.0 Message with our submit extension, from what the command line says.
 * @throws InvalidValueError for a target that does not fit its options, or times that can't be kept
 */
export function toSubmission(
  target: string,
  text: string,
  options: SubmissionOptions,
  facts: SubmissionFacts,
): Submission {
  const chosen = targetOf(target, options);
  const pinned = chosen.kind === 'agent';
  return {
    ...(pinned ? { agentId: chosen.agentId } : {}),
    messageId: facts.messageId,
    message: {
      messageId: facts.messageId,
      role: 'ROLE_USER',
      parts: [{ text }],
      ...(options.context === undefined ? {} : { contextId: options.context }),
      metadata: {
        [extensionUris.submit]: {
          ...(pinned ? {} : { target: chosen }),
          ...extensionOf(options, facts),
        },
      },
    },
  };
}

/** An agent id, `auto`, or `any` with what it must have. @throws InvalidValueError */
export function targetOf(target: string, options: SubmissionOptions): Target {
  const need = {
    ...(options.tier === undefined ? {} : { tier: options.tier }),
    ...(options.skill === undefined ? {} : { skill: options.skill }),
    ...(options.tools ? { tools: true } : {}),
    ...(options.vision ? { vision: true } : {}),
    ...(options.minContext === undefined ? {} : { minContextTokens: options.minContext }),
    ...(options.trust === undefined ? {} : { trust: options.trust }),
    ...(options.cost === undefined ? {} : { cost: options.cost }),
  };
  const isConstrained = Object.keys(need).length > 0;
  if (target === 'any') return Target.parse({ kind: 'constraints', need });
  if (isConstrained) {
    throw new InvalidValueError(
      `--${Object.keys(need)[0] ?? 'tier'} says what an agent must have, and ${target} is chosen already. ` +
        'Use the target `any`, or leave it out.',
      'target',
    );
  }
  if (target === 'auto') return { kind: 'auto' };
  const agentId = AgentId.safeParse(target);
  if (agentId.success) return { kind: 'agent', agentId: agentId.data };
  throw new InvalidValueError(
    `"${target}" is no target: give an agent id (\`mesh cards list\`), \`any\` or \`auto\`.`,
    'target',
  );
}

function extensionOf(
  options: SubmissionOptions,
  { nowMs, verification, parent }: SubmissionFacts,
): Record<string, unknown> {
  const verifier = options.verification ?? verification;
  const iso = (atMs: number): string => new Date(atMs).toISOString();
  const { ref, model, effort } = options;
  const deadline = options.deadline && atMsOf(options.deadline, nowMs);
  const notBefore = options.notBefore && atMsOf(options.notBefore, nowMs);
  requireOrder(deadline, notBefore, nowMs);
  const execution = {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
  return {
    ...(verifier === undefined ? {} : { verification: verifier }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.score === undefined ? {} : { score: options.score }),
    ...(deadline === undefined ? {} : { deadline: iso(deadline) }),
    ...(notBefore === undefined ? {} : { notBefore: iso(notBefore) }),
    ...(ref === undefined ? {} : { contextRefs: ref }),
    ...(options.acceptance === undefined ? {} : { acceptance: options.acceptance }),
    ...(options.effects === undefined ? {} : { effects: options.effects }),
    ...(options.onUnavailable === undefined ? {} : { onUnavailable: options.onUnavailable }),
    ...(parent === undefined ? {} : { parent }),
    ...(Object.keys(execution).length === 0 ? {} : { execution }),
  };
}
