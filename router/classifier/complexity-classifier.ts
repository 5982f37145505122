import type { Tier } from '../../fabric/domain/trust.ts';

/** What is known of a task beside its words. */
export interface ClassifierInput {
  readonly text: string;
  /** Number of context references that come with it. */
  readonly contextRefs?: number;
  /** Tier of the turn before, where this text continues it. */
  readonly previousTier?: Tier;
  /** That turn ended in a question or a plan: "ok do it" then means its work. */
  readonly answersPrevious?: boolean;
  /** The task's score: a person's estimate beats words. */
  readonly score?: number;
  /** The least its Card or intent allows. */
  readonly floor?: Tier;
}

export interface Classification {
  readonly tier: Tier;
  /** 0..1, how much of the evidence points to this tier; a number to sort by, not a probability. */
  readonly confidence: number;
  /** `heuristic`, `rule:<id>`, `score`, an embedder's id. */
  readonly source: string;
  /** One short phrase each: what it went by. */
  readonly reasons: readonly string[];
}

/** Text to tier: policy ("what does this kind of work deserve"), not a prediction of quality. */
export interface ComplexityClassifier {
  classify(input: ClassifierInput, signal?: AbortSignal): Promise<Classification>;
}
