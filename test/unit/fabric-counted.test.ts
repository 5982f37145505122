import { describe, expect, it } from 'vitest';
import { CardsRefusedError } from '../../cards/registry/cards-refused.ts';
import type { CardProblem } from '../../cards/schema/card-problem.ts';
import { problemLines } from '../../cli/text/card-pages.ts';
import { counted } from '../../fabric/domain/counted.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { taskIn } from '../support/task-in-phase.ts';

const problem = (severity: CardProblem['severity']): CardProblem => ({
  ...{ severity, file: 'cards/adolf.card.yaml', line: 1, column: 1, path: 'id' },
  ...{ code: 'UNKNOWN_KEY', message: 'It is wrong.', fix: 'Mend it.' },
});

/** What people are told of n things, and n as they would say it. */
const said: readonly (readonly [string, (n: number) => string, string])[] = [
  [
    'a refused commit',
    (n) => {
      const problems = Array.from({ length: n }, () => problem('error'));
      return new CardsRefusedError({ commit: 'c0ffee', problems }).message;
    },
    'problem',
  ],
  [
    'errors of a lint',
    (n) => problemLines(Array.from({ length: n }, () => problem('error'))),
    'error',
  ],
  [
    'warnings of a lint',
    (n) => problemLines(Array.from({ length: n }, () => problem('warning'))),
    'warning',
  ],
  [
    'a dead letter',
    (n) => whyWaiting({ ...taskIn('dead-letter'), attempts: n }, { nowMs: 0 }),
    'attempt',
  ],
];

describe('a count that people read', () => {
  it('has its noun in the number that fits', () => {
    expect([0, 1, 2, 21].map((n) => counted(n, 'agent'))).toEqual([
      ...['0 agents', '1 agent', '2 agents', '21 agents'],
    ]);
  });

  it.each(said)('is right in %s', (_what, say, noun) => {
    expect(say(1)).toMatch(new RegExp(`\\b1 ${noun}\\b`));
    expect(say(2)).toMatch(new RegExp(`\\b2 ${noun}s\\b`));
  });
});
