import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import {
  inboxItemsOf,
  inboxOwnerOf,
  itemNameOf,
  itemReference,
} from '../../fabric/people/inbox/inbox-items.ts';
import { endedText } from '../../fabric/people/inbox/inbox-text.ts';
import { AgentId, QueueId, TaskId } from '../../fabric/domain/ids.ts';
import {
  askedBy,
  claimedBy,
  human,
  newToken,
  questionTo,
  settledBy,
  submittedEvent,
  verifiedBy,
  type TaskOverrides,
} from '../support/board-builders.ts';
import { policyOf } from '../support/queue-mesh.ts';

const policies = ['alvis', 'bea'].map((id) => policyOf({ id, runtime: 'human', trust: 'human' }));
const directoryWith = (...more: readonly ReturnType<typeof policyOf>[]) => {
  const all = [policyOf({ id: 'adolf' }), ...policies, ...more];
  return {
    agent: (id: string) => all.find(({ agentId }) => (agentId as string) === id),
    agents: () => all,
    defaultHuman: () => AgentId.parse('alvis'),
  };
};
const directory = directoryWith();

const items = (events: readonly TaskEvent[], known = directory) =>
  inboxItemsOf(fold(events)!, events, known);
const whose = (events: readonly TaskEvent[]) =>
  items(events).map(({ human: person, key }) => `${person} ${key}`);

const decisionId = 'd-0123456789abcdef';
const asked = (to: readonly string[], task: TaskOverrides = {}): readonly TaskEvent[] => [
  submittedEvent(task),
  claimedBy(task.agentId ?? 'adolf', { attempt: 1 }),
  askedBy(task.agentId ?? 'adolf', 2, to),
];
const done = (task: TaskOverrides = {}): readonly TaskEvent[] => [
  submittedEvent(task),
  claimedBy('adolf', { attempt: 1 }),
  settledBy('adolf', 2),
];
const answered: TaskEvent = {
  ...{ kind: 'answered', by: human('alvis'), atMs: 9, token: newToken() },
  ...{ decisionId: questionTo(['alvis']).decisionId, value: 'red', note: 'not blue' },
};
const bySelf = { submitter: 'adolf', submitterRole: 'agent' } as const;

describe('whose inbox a task lies in', () => {
  it.each<[string, readonly TaskEvent[], readonly string[]]>([
    ['nothing asked', [submittedEvent()], []],
    ['a question to one person', asked(['alvis']), [`alvis ${decisionId}`]],
    ['a question to two', asked(['alvis', 'bea']), [`alvis ${decisionId}`, `bea ${decisionId}`]],
    ['a question to an agent', asked(['adolf']), []],
    ['a question to nobody we know', asked(['mallory']), []],
    ['an answered one', [...asked(['alvis']), answered], []],
    ['one in its person’s own queue', asked(['bea'], { agentId: 'bea' }), []],
    ['another’s question about it', asked(['alvis'], { agentId: 'bea' }), [`alvis ${decisionId}`]],
    ['a result for its submitter', done(), ['alvis verify-3']],
    ['a verified one', [...done(), verifiedBy('alvis')], []],
    ['one that nobody verifies', done({ definition: { verification: 'none' } }), []],
    ['one for a reviewer', done({ definition: { verification: 'reviewer' } }), []],
    [
      'one for the person it is done for',
      done({ ...bySelf, interlocutor: 'bea', definition: { verification: 'human' } }),
      ['bea verify-3'],
    ],
    [
      'an agent’s child, which that agent verifies',
      done({ submitter: 'researcher', submitterRole: 'agent', interlocutor: 'bea' }),
      [],
    ],
    ['an agent’s own schedule', done({ ...bySelf, responsible: 'bea' }), ['bea verify-3']],
    [
      'a tainted one',
      done({ submitter: 'researcher', submitterRole: 'agent', definition: { tainted: true } }),
      ['alvis verify-3'],
    ],
  ])('%s', (_name, events, expected) => {
    expect(whose(events)).toEqual(expected);
  });

  it('is nobody’s whose queue somebody else drains, too', () => {
    const shared = directoryWith(policyOf({ id: 'butler', queue: QueueId.parse('alvis') }));
    expect(items(asked(['alvis', 'bea']), shared).map((item) => item.queue)).toEqual(['bea']);
    expect(inboxOwnerOf(shared, QueueId.parse('alvis'))).toBeUndefined();
    expect(inboxOwnerOf(shared, QueueId.parse('bea'))).toBe('bea');
  });
});

describe('what an item says', () => {
  const task = {
    title: 'Audit *the* log',
    interlocutor: 'bea',
    definition: { deadlineAtMs: Date.UTC(2026, 11, 1, 8) },
  };
  const gate = questionTo(['alvis'], {
    kind: 'gate',
    options: ['approve', 'reject'],
    text: '# Delete?\n![x](http://x)',
  });

  it('is the mesh’s, with the agent’s words as a quote, and how to answer', () => {
    const [item] = items([
      ...asked(['alvis'], task).slice(0, 2),
      askedBy('adolf', 2, ['alvis'], { question: gate }),
    ]);
    expect(item).toMatchObject({ title: 'Approve or reject: Audit *the* log', urgent: false });
    expect(item?.dueAtMs).toBe(Date.UTC(2026, 11, 1, 8));
    expect(item?.description).toMatchInlineSnapshot(`
      "**adolf** asks you about the task “Audit \\*the\\* log”, which waits for your answer. It was submitted by **alvis**, for **bea**.

      > \\# Delete?
      > !\\[x](http://x)

      **What each answer does**

      - \`approve\`: adolf gets your yes and goes on.
      - \`reject\`: adolf gets your no, and goes on without what it asked for.

      **How to answer**

      - Drag this card to Approved or to Rejected.
      - Or comment \`/approve\`, or \`/reject\` and why.
      - Or elsewhere: \`mesh inbox\`.

      The task is due 2026-12-01 08:00 UTC."
    `);
  });

  it('names a result by where it lies, never by what it holds', () => {
    const artifacts = [
      {
        artifactId: 'a',
        name: 'audit.md',
        mediaType: 'text/markdown',
        bytes: 9,
        text: 'A payload',
      },
      { artifactId: 'b', mediaType: 'text/plain', bytes: 0, ref: 'git:app@3f2a91c#audit.md' },
    ];
    const events = [
      submittedEvent({ definition: { acceptance: 'Every line\nis read.' } }),
      claimedBy('adolf', { attempt: 1 }),
      settledBy('adolf', 2, { summary: 'Three risks.', artifacts }),
    ];
    const [item] = items(events);
    expect(item?.title).toBe('Check the result: Audit the log');
    expect(item?.description).toMatchInlineSnapshot(`
      "**adolf** says that the task “Audit the log”, which you asked for, is done. Check the result.

      **What it has to satisfy**

      > Every line
      > is read.

      **The result, in its maker’s words**

      > Three risks.

      **Where it lies**

      - \`audit.md\`: open it with \`mesh inbox\`
      - \`result\`: git:app@3f2a91c#audit.md

      **What you can do**

      - It is right: drag this card to Approved, or close it. The task is verified and closed.
      - It is not: comment what is wrong and drag this card to Rejected, or comment \`/reject\` and what is wrong. The task ends as refused.
      - Or elsewhere: \`mesh inbox\`."
    `);
  });

  it('bears no id and no more of an agent’s words than a page', () => {
    const long = 'word '.repeat(799);
    const events = asked(['alvis']).slice(0, 2);
    const [item] = items([
      ...events,
      askedBy('adolf', 2, ['alvis'], { question: questionTo(['alvis'], { text: long }) }),
    ]);
    expect(item?.description.length).toBeLessThan(2_300);
    expect(item?.description).not.toContain(item?.uid);
    expect(item?.description).not.toContain(decisionId);
  });

  it('tells at its end who said what', () => {
    const ended = fold([...asked(['alvis']), answered])!;
    expect(endedText(ended, decisionId)).toBe('💬 **alvis** answered: red\n\nnot blue');
    expect(endedText(fold([...done(), verifiedBy('alvis')])!, 'verify-3')).toBe(
      '✔ Verified by **alvis**.',
    );
    const canceled: TaskEvent = {
      kind: 'canceled',
      by: human('alvis'),
      atMs: 9,
      token: newToken(),
    };
    expect(endedText(fold([...asked(['alvis']), canceled])!, decisionId)).toBe(
      'Nothing is needed any more: the task was canceled.',
    );
  });
});

describe('the reference of an item', () => {
  const uid = TaskId.parse('0123456789abcdef0123456789abcdef');
  it.each([decisionId, 'verify-3', 'verify-512'])('goes both ways: %s', (key) => {
    expect(itemNameOf(itemReference({ uid, key }))).toEqual({ uid, key });
  });
  it.each([
    `mesh:${uid}`,
    `mesh:ask:${uid}`,
    `mesh:ask:${uid}:verify-0`,
    `x mesh:ask:${uid}:${decisionId}`,
    '',
  ])('is not: %s', (reference) => {
    expect(itemNameOf(reference)).toBeUndefined();
  });
});
