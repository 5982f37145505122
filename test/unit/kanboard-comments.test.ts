import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import { Fence } from '../../fabric/domain/ids.ts';
import type { Outcome, Question } from '../../fabric/domain/task.ts';
import { asQuote, quoted } from '../../fabric/kanboard/quoted-words.ts';
import { commentOn, questionText } from '../../fabric/kanboard/task-comments.ts';
import {
  agent,
  askedBy,
  builtAtMs,
  claimedBy,
  human,
  newToken,
  questionTo,
  settledBy,
  submittedEvent,
} from '../support/board-builders.ts';

function settledComment(outcome: Partial<Outcome>): string {
  const before: readonly TaskEvent[] = [submittedEvent(), claimedBy('adolf', { attempt: 1 })];
  const settled = settledBy('adolf', 2, outcome);
  return commentOn(fold(before), settled, fold([...before, settled])!) ?? '';
}

describe('somebody else’s words on a board task', () => {
  it.each([
    ['a picture', '![](https://spy.example/p.png)', '!\\[](https://spy.example/p.png)'],
    ['a link', '[Approve](https://evil.example)', '\\[Approve](https://evil.example)'],
    [
      'a link that is escaped already',
      '\\[a](https://evil.example)',
      '\\\\\\[a](https://evil.example)',
    ],
    ['a heading', '# Verified', '\\# Verified'],
    ['a quote of its own', '> you said', '\\> you said'],
    ['plain words', '2 - 1 = 1, “a -> b”', '2 - 1 = 1, “a -> b”'],
  ])('keeps %s as it is written', (_what, text, shown) => {
    expect(quoted(text)).toBe(shown);
    expect(asQuote(text)).toBe(`> ${shown}`);
  });

  it('quotes every line, whatever ends it, and lets none become a heading', () => {
    expect(quoted('Done\n===\r\n- one\r## Verified\n\nby Alvis\n-')).toBe(
      '\n> Done\n> \\===\n> - one\n> \\## Verified\n>\n> by Alvis\n> \\-',
    );
  });

  it('is a quote of its maker where a result is told', () => {
    expect(settledComment({ summary: 'All is well.' })).toMatch(
      /^✅ Done, in the words of \*\*adolf\*\*:\n\n> All is well\.(?:$|\n\n[^>])/u,
    );
    const artifacts = [
      {
        artifactId: 'a-1',
        name: 'a`b\n# c',
        mediaType: 'text/plain',
        bytes: 1,
        ref: '[x](http://y)',
      },
    ];
    expect(settledComment({ summary: 'x', artifacts })).toContain(
      '\n\n- `a’b # c`: \\[x](http://y)',
    );
  });
});

it('tells an answer with what its giver wrote beside it', () => {
  const asked = [
    submittedEvent(),
    claimedBy('adolf', { attempt: 1 }),
    askedBy('adolf', 2, ['alvis']),
  ];
  const answered: TaskEvent = {
    ...{ kind: 'answered', by: human('alvis'), atMs: 9, token: newToken() },
    ...{ decisionId: questionTo(['alvis']).decisionId, value: 'red', note: 'not blue' },
  };
  const told = commentOn(fold(asked), answered, fold([...asked, answered])!);
  expect(told).toBe('💬 **alvis** answered: red\n\n> not blue');
});

describe('how a question can be answered', () => {
  const ways = (question: Partial<Question>) =>
    questionText(questionTo(['alvis'], question))
      .split('\n\n')
      .at(-1);
  const drag = 'Comment `/approve` or `/reject`, or drag it to Approved or Rejected in your inbox.';

  it.each<[string, Partial<Question>, string]>([
    ['a gate', { kind: 'gate', options: ['approve', 'reject'] }, drag],
    ['a yes or no that is no gate', { kind: 'question', options: ['yes', 'no'] }, drag],
    ['a promotion', { kind: 'promotion', options: ['promote', 'reject'] }, drag],
    [
      'a choice',
      { kind: 'question', options: ['red', 'blue'] },
      'Comment `/answer` and one of: `red`, `blue`.',
    ],
    [
      'a question for words',
      { kind: 'question', options: [] },
      'Comment `/answer` and your words.',
    ],
  ])('of %s', (_what, question, text) => {
    expect(ways(question)).toBe(text);
  });
});

it('puts the question of a run that nobody is sure of, with the ways there are to answer it', () => {
  const before: readonly TaskEvent[] = [submittedEvent(), claimedBy('adolf', { attempt: 1 })];
  const base = { by: agent('adolf'), atMs: builtAtMs, token: newToken(), fence: Fence.parse(2) };
  const uncertain = { ...base, kind: 'uncertain', reason: 'it was cut off' } as const;
  const text = commentOn(fold(before), uncertain, fold([...before, uncertain])!);
  expect(text).toMatch(/^⚠️ It is not certain what this run did: it was cut off/);
  expect(text).toContain(
    'Comment `/answer` and one of: `ready`, `done`, `dead-letter`, `canceled`.',
  );
});
