import type { Clock } from '../fabric/ports/clock.ts';
import type { RouterAvailability } from './availability/router-availability.ts';
import type {
  Classification,
  ClassifierInput,
  ComplexityClassifier,
} from './classifier/complexity-classifier.ts';
import { decide } from './decide.ts';
import type { RouteDecision, RoutedTask } from './decision.ts';
import type { Target } from './target.ts';

export interface TargetQuestion {
  readonly target: Target;
  readonly task: Omit<RoutedTask, 'verdict'>;
  /** Title and body; read by the classifier only, and only for `auto` without a score. */
  readonly text: string;
  readonly hints?: Pick<ClassifierInput, 'contextRefs' | 'previousTier' | 'answersPrevious'>;
}

export interface ResolvedTarget {
  readonly decision: RouteDecision;
  /** What the classifier said, where it was asked. */
  readonly classification?: Classification;
}

export interface TargetResolver {
  /** A dry run and a real one are the same question: nothing is reserved here. */
  resolve(question: TargetQuestion, signal?: AbortSignal): Promise<ResolvedTarget>;
}

export interface TargetResolverOptions {
  readonly availability: Pick<RouterAvailability, 'snapshot'>;
  readonly classifier: ComplexityClassifier;
  readonly clock: Clock;
}

/**
 * What the router persona and `mesh route --dry-run` ask: classify where that is needed, take a snapshot, decide.
 * After a park ask again; never replay the old answer (`reference/litellm.md` 5.5).
 */
export function targetResolver(options: TargetResolverOptions): TargetResolver {
  const { availability, classifier, clock } = options;
  return {
    async resolve(question, signal) {
      const { target, task } = question;
      const classification = needsVerdict(question)
        ? await classifier.classify(classifierInput(question), signal)
        : undefined;
      const verdict = classification && {
        tier: classification.tier,
        source: classification.source,
      };
      const routed = { ...task, ...(verdict && { verdict }) };
      const snapshot = availability.snapshot(task.caller);
      const decision = decide(routed, target, snapshot, clock.nowMs());
      return { decision, ...(classification && { classification }) };
    },
  };
}

/** An explicit tier or a score makes the words irrelevant. */
function needsVerdict({ target, task }: TargetQuestion): boolean {
  if (target.kind !== 'auto' || (task.score ?? 0) > 0) return false;
  return task.need?.tier === undefined && task.need?.tierAtLeast === undefined;
}

function classifierInput({ target, text, hints }: TargetQuestion): ClassifierInput {
  const floor = target.kind === 'auto' ? target.floor : undefined;
  return { text, ...hints, ...(floor && { floor }) };
}
