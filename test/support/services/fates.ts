import type { Random } from '../../../fabric/ports/random.ts';

/** What can become of a request on its way; `executed` says whether Kanboard has done it. */
export type Fate =
  /** Executed, answered. */
  | { readonly kind: 'passed' }
  /** Not executed; the connection is reset. */
  | { readonly kind: 'reset' }
  /** Not executed, never answered. */
  | { readonly kind: 'hanging' }
  /** Executed after `beforeMs`, also where the client has given up by then; answered `afterMs` later. */
  | { readonly kind: 'delayed'; readonly beforeMs?: number; readonly afterMs?: number }
  /** Executed; the connection is reset instead of an answer. */
  | { readonly kind: 'answer-lost' }
  /** Executed; half of the answer, then a reset. */
  | { readonly kind: 'answer-cut' }
  /** Executed, and once more `againAfterMs` after that; answered with the first one's answer, or the second one's. */
  | { readonly kind: 'twice'; readonly againAfterMs?: number; readonly answer?: 'first' | 'second' }
  /** HTTP 500 without a body, as at a PHP error, before or after it was executed. */
  | { readonly kind: 'empty-500'; readonly executed: boolean }
  /** Not executed; HTTP 502 and a page for people. */
  | { readonly kind: 'html-page' }
  /** Not executed; HTTP 401, as after the token was changed. */
  | { readonly kind: 'unauthorized' }
  /** Not executed; HTTP 200 and the JSON-RPC error of a database whose disk is full. */
  | { readonly kind: 'disk-full' };

/** One draw: its fate where `fraction` falls below `share`, counted up over the list. */
interface Chance {
  readonly share: number;
  readonly fate: (random: Random) => Fate;
}

const upTo = (random: Random, ms: number): number => Math.floor(random.fraction() * ms);

/** Half of all requests meet something; shares as in a bad hour, weighted to what is ambiguous. */
const badHour: readonly Chance[] = [
  { share: 0.12, fate: () => ({ kind: 'answer-lost' }) },
  { share: 0.08, fate: (random) => ({ kind: 'delayed', beforeMs: upTo(random, 300) }) },
  { share: 0.06, fate: (random) => ({ kind: 'delayed', afterMs: upTo(random, 300) }) },
  { share: 0.06, fate: (random) => ({ kind: 'twice', againAfterMs: upTo(random, 200) }) },
  { share: 0.04, fate: () => ({ kind: 'twice', answer: 'second' }) },
  { share: 0.04, fate: () => ({ kind: 'reset' }) },
  { share: 0.03, fate: () => ({ kind: 'answer-cut' }) },
  { share: 0.03, fate: (random) => ({ kind: 'empty-500', executed: random.fraction() < 0.5 }) },
  { share: 0.02, fate: () => ({ kind: 'html-page' }) },
  { share: 0.01, fate: () => ({ kind: 'disk-full' }) },
  { share: 0.01, fate: () => ({ kind: 'unauthorized' }) },
];

/**
 * Draws a fate per request: the same order of requests meets the same fates for the same seed. None
 * of them hangs for ever.
 */
export function fates(random: Random, chances: readonly Chance[] = badHour): () => Fate {
  return () => {
    let drawn = random.fraction();
    for (const { share, fate } of chances) {
      if (drawn < share) return fate(random);
      drawn -= share;
    }
    return { kind: 'passed' };
  };
}
