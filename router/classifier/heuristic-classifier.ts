import type { Tier } from '../../fabric/domain/trust.ts';
import { tierForScore, tierRank, tiers } from '../tier.ts';
import type {
  Classification,
  ClassifierInput,
  ComplexityClassifier,
} from './complexity-classifier.ts';
import { cueVotes, sizeVotes } from './prompt-features.ts';
import type { Vote } from './prompt-features.ts';
import { stripText } from './stripped-text.ts';

/** An operator's own word: these texts deserve that tier. */
export interface TierRule {
  readonly id: string;
  readonly pattern: RegExp;
  readonly tier: Tier;
}

/**
 * The floor under every other classifier: no dependency, no network, far below 0.1 ms. Order of
 * `reference/litellm.md` 3.4: operator rules, noise out, greetings, feature vote, nothing fired → medium (never
 * small: that is where cheap routers go wrong), the score, the floor.
 */
export function heuristicClassifier(rules: readonly TierRule[] = []): ComplexityClassifier {
  return { classify: (input) => Promise.resolve(classifyByWords(input, rules)) };
}

/** The same, at once. */
export function classifyByWords(
  input: ClassifierInput,
  rules: readonly TierRule[] = [],
): Classification {
  const scored = tierForScore(input.score);
  const found: Classification =
    scored === undefined
      ? byText(input, rules)
      : { tier: scored, confidence: 1, source: 'score', reasons: [`score ${input.score ?? 0}`] };
  const { floor } = input;
  if (floor === undefined || tierRank(found.tier) >= tierRank(floor)) return found;
  return { ...found, tier: floor, reasons: [...found.reasons, `its floor is ${floor}`] };
}

function byText(input: ClassifierInput, rules: readonly TierRule[]): Classification {
  const { words, quotedChars } = stripText(input.text);
  const rule = rules.find(({ pattern }) => words.search(pattern) >= 0);
  if (rule !== undefined) {
    const reasons = [`rule ${rule.id} of the operator`];
    return { tier: rule.tier, confidence: 1, source: `rule:${rule.id}`, reasons };
  }
  return (
    bySmallTalk(words, input) ??
    byVote([...cueVotes(words), ...sizeVotes(words, quotedChars, input.contextRefs ?? 0)])
  );
}

const smallTalk =
  /^(?:(?:hi|hello|hey|yo|good (?:morning|evening|night)|thanks?|thank you|thx|cheers|ok(?:ay)?|yes|no|yep|nope|sure|great|nice|perfect|cool|got it|sounds good|bye|goodbye|lgtm|there|everyone|all|a lot|so much|very much|that worked|please|do it|go ahead|go on|continue)[\s,.!]*)+$/i;

/** Greetings, yes and no, and three words or fewer. After a question or a plan they inherit its tier. */
function bySmallTalk(words: string, input: ClassifierInput): Classification | undefined {
  const count = words.split(/\s+/).filter(Boolean).length;
  const isShort = smallTalk.test(words) || (count <= 3 && cueVotes(words).length === 0);
  if (!isShort) return undefined;
  if (input.previousTier !== undefined && input.answersPrevious === true) {
    const reasons = ['a short answer to the turn before'];
    return { tier: input.previousTier, confidence: 0.8, source: 'heuristic', reasons };
  }
  const reasons = [count === 0 ? 'no words' : 'a greeting or a few words'];
  return { tier: 'small', confidence: 0.8, source: 'heuristic', reasons };
}

function byVote(votes: readonly Vote[]): Classification {
  if (votes.length === 0) {
    const reasons = ['no cue fired'];
    return { tier: 'medium', confidence: 0.25, source: 'heuristic', reasons };
  }
  const weightOf = (tier: Tier) =>
    votes.filter((vote) => vote.tier === tier).reduce((sum, { weight }) => sum + weight, 0);
  const total = votes.reduce((sum, { weight }) => sum + weight, 0);
  // At a tie the higher tier wins: under-routing costs a failed task, over-routing only units.
  const tier = tiers.reduce(
    (best, one) => (weightOf(one) >= weightOf(best) ? one : best),
    tiers[0] ?? 'medium',
  );
  const winner = weightOf(tier) === 0 ? 'medium' : tier;
  return {
    tier: winner,
    confidence: weightOf(winner) / (total + 1),
    source: 'heuristic',
    reasons: votes.filter((vote) => vote.tier === winner).map(({ reason }) => reason),
  };
}
