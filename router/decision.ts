import type { CostClass, Tier } from '../fabric/domain/trust.ts';
import type { MeteredGrant } from './metered-grant.ts';
import type { CallerClass } from '../fabric/ports/availability.ts';
import type { Need, Target } from './target.ts';

/** What the decision needs to know of a task; nothing of its text. */
export interface RoutedTask {
  /** Breaks ties the same way at each decision about the same task. */
  readonly taskId: string;
  /** Whose opt-in and budget count for a bare model: the agent that submits. */
  readonly submitterId: string;
  readonly caller: CallerClass;
  /** 0 or absent: nobody rated it. */
  readonly score?: number;
  readonly deadlineMs?: number;
  /** Demands of the task itself, added to those of a persona's Card. */
  readonly need?: Need;
  /** Agents that this task may not go to, whatever it needs, each with why in one clause. */
  readonly barred?: ReadonlyMap<string, string>;
  /** What the classifier said; looked at only for `auto`, and only without a score. */
  readonly verdict?: { readonly tier: Tier; readonly source: string };
}

export type TierSource = 'target' | 'card' | 'score' | 'none' | `classifier:${string}`;

export type RejectReason =
  | 'unknownAgent'
  | 'noCandidate'
  | 'deadlineBeforeFree'
  /** The tier would come from a score that nobody gave: ask for one, never run it cheaply. */
  | 'needsScore';

/** Why one candidate was or was not taken. */
export interface CandidateVerdict {
  readonly agentId: string;
  readonly gatewayModel?: string;
  readonly tier?: Tier;
  readonly cost?: CostClass;
  /** `filtered`: it can't ever do this; `unavailable`: not now; `passedOver`: another came first. */
  readonly verdict: 'chosen' | 'passedOver' | 'unavailable' | 'filtered';
  /** Of the agent that this model would serve; absent: it is the candidate itself. */
  readonly serves?: string;
  readonly reasons: readonly string[];
  readonly untilMs?: number;
}

/** Everything `mesh why` and `mesh route --dry-run` print. */
export interface Explanation {
  readonly target: Target;
  readonly atMs: number;
  /** The git commit of the Cards it was decided on. */
  readonly commit: string;
  readonly tier?: Tier;
  readonly tierSource: TierSource;
  readonly candidates: readonly CandidateVerdict[];
}

interface RouteFacts {
  readonly do: 'route';
  readonly agentId: string;
  readonly explain: Explanation;
}

/** A backbone that costs nothing per call, or one that costs money and then carries its grant. */
export type Backbone =
  | {
      readonly modelAgentId: string;
      readonly gatewayModel: string;
      readonly cost: 'free-local' | 'flat-quota';
    }
  | {
      readonly modelAgentId: string;
      readonly gatewayModel: string;
      readonly cost: 'metered';
      readonly grant: MeteredGrant;
    };

export type RouteDecision =
  /** Without `backbone` the agent works by itself: a person, an executor, a runner. */
  | (RouteFacts & { readonly backbone?: Backbone })
  /** Nothing is written, nothing fails. Without `untilMs` a probe or a person ends the wait. */
  | {
      readonly do: 'park';
      readonly untilMs?: number;
      readonly reasons: readonly string[];
      readonly explain: Explanation;
    }
  | {
      readonly do: 'reject';
      readonly why: RejectReason;
      readonly reasons: readonly string[];
      readonly explain: Explanation;
    };
