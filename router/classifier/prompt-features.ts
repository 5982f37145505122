import type { Tier } from '../../fabric/domain/trust.ts';

/** One thing that speaks for a tier. */
export interface Vote {
  readonly tier: Tier;
  readonly weight: number;
  readonly reason: string;
}

interface Cue {
  readonly tier: Tier;
  readonly weight: number;
  readonly reason: string;
  readonly pattern: RegExp;
}

/**
 * General cues, written from the seed prompts and from what the tiers mean, not fitted to any test set: what the
 * work is (look up, transform, build, prove), what it is done to, and what the answer must show.
 */
const cues: readonly Cue[] = [
  {
    tier: 'small',
    weight: 2,
    reason: 'a look-up question',
    pattern:
      /^(?:hey,? |please |quick(?:ly)?:? |quick question:? )?(?:what(?:'s| is| are| time| day| year| does)|who|whom|when|where|which|how (?:many|much|old|far|tall|long|do you (?:spell|say|pronounce))|is|are|was|were|does|do|did|has|can|define|spell|name|remind me)\b/,
  },
  {
    tier: 'small',
    weight: 2,
    reason: 'a conversion or a small sum',
    pattern:
      /\b(?:convert|spell|define|synonym|antonym|capital of|stands? for|plural of)\b|^translate (?:'|"|“)|\d\s*[-+*/x%]\s*\d|\b\d+ ?(?:%|percent) of \d/,
  },
  {
    tier: 'medium',
    weight: 2,
    reason: 'writes or changes a text',
    pattern:
      /\b(?:summari[sz]e|rewrite|rephrase|paraphrase|shorten|proofread|draft|compose|reply|translate|extract|list|suggest|brainstorm|outline|classify|tag|categori[sz]e|sort|format|turn (?:this|these)|convert (?:this|these)|describe|explain|write (?:a|an|me|two|three|some|the))\b/,
  },
  {
    tier: 'medium',
    weight: 2,
    reason: 'one small piece of code or data',
    pattern:
      /\b(?:function|script|regex|regular expression|sql query|query|one-liner|unit test|snippet|bash|json|csv|table|formula|dockerfile|differences? between|pros and cons)\b/,
  },
  {
    tier: 'large',
    weight: 3,
    reason: 'builds or changes a system',
    pattern:
      /\b(?:refactor|re-?architect|architect(?:ure)?|implement|migrate|migration|design (?:a|an|the|our)|technical design|data model|set up|roll ?out|deploy|integrate|port (?:the|our|this)|build (?:a|an|the)|root cause|debug|diagnose|investigate|optimi[sz]e (?:the|our|this)|review (?:this|the|our) (?:pull|pr|diff|change|code|design))\b/,
  },
  {
    tier: 'large',
    weight: 2,
    reason: 'a whole code base, service or product',
    pattern:
      /\b(?:repo(?:sitory)?|codebase|monorepo|modules?|services?|microservices?|endpoints?|api|database|schema|pipeline|cluster|kubernetes|ci\/cd|continuous delivery|backend|frontend|multi[- ]tenant|distributed|concurren(?:t|cy)|race condition|deadlock|replication|sharding|queue|broker|cache|under load|production|end[- ]to[- ]end)\b/,
  },
  {
    tier: 'large',
    weight: 1,
    reason: 'asks for guarantees or trade-offs',
    pattern:
      /\b(?:trade[- ]?offs?|failure modes?|rollback|backwards? compatib\w+|security|performance|scal(?:e|able|ability)|error recovery|integration tests?|stable|without downtime|recommend)\b/,
  },
  {
    tier: 'reasoning',
    weight: 4,
    reason: 'wants a proof or a derivation',
    pattern:
      /\b(?:prove|proof|disprove|derive|derivation|deduce|theorem|lemma|induction|np-hard|np-complete|closed form|recurrence|expected (?:number|value)|probability (?:that|of)|show that|counterexample|infer(?:ence)?s?|step by step|think carefully|justify each|show (?:your|all|every) (?:work|steps?|inference))\b/,
  },
  {
    tier: 'reasoning',
    weight: 3,
    reason: 'weighs evidence or a decision',
    pattern:
      /\b(?:weigh|conflicting|contradict\w*|causal(?:ity)?|confound\w*|most (?:probable|likely|plausible)|optimal (?:strategy|policy|solution)|game theor\w+|dilemma|ethic\w*|decision tree|every (?:branch|case)|for and against|evaluate whether|decide whether|determine (?:whether|the optimal)|analy[sz]e whether|puzzle|paradox|equilibrium)\b/,
  },
];

/** Every cue that the words give, each at most once. */
export function cueVotes(words: string): readonly Vote[] {
  const lower = words.toLowerCase();
  return cues
    .filter(({ pattern }) => pattern.test(lower))
    .map(({ tier, weight, reason }) => ({ tier, weight, reason }));
}

/** What size and form say: demands, length, material that comes along. */
export function sizeVotes(
  words: string,
  quotedChars: number,
  contextRefs: number,
): readonly Vote[] {
  const votes: Vote[] = [];
  const count = words.split(/\s+/).filter(Boolean).length;
  const demands =
    (words.match(/\band\b|;|, (?:then|with|without|including)\b/gi) ?? []).length +
    (words.match(/^\s*(?:[-*]|\d+[.)]) /gm) ?? []).length;
  if (demands >= 3) votes.push({ tier: 'large', weight: 1, reason: `${demands} demands` });
  if (count > 120) votes.push({ tier: 'large', weight: 1, reason: `${count} words` });
  if (/```/.test(words)) votes.push({ tier: 'medium', weight: 1, reason: 'a code block' });
  if (quotedChars > 0) votes.push({ tier: 'medium', weight: 1, reason: 'long material with it' });
  if (contextRefs >= 3)
    votes.push({ tier: 'large', weight: 1, reason: `${contextRefs} references` });
  return votes;
}
