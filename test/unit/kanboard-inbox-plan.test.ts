import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import { AgentId, PrincipalId } from '../../fabric/domain/ids.ts';
import type { Question } from '../../fabric/domain/task.ts';
import type { InboxPlan } from '../../fabric/people/inbox/act-situation.ts';
import { planAct } from '../../fabric/people/inbox/inbox-plan.ts';
import type { PersonAct } from '../../fabric/kanboard/people/person-act.ts';
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

type Did = PersonAct['did'];

const policies = [policyOf({ id: 'adolf' }), humanOf('alvis'), humanOf('bea')];
const directory = {
  agent: (id: string) => policies.find(({ agentId }) => (agentId as string) === id),
  agents: () => policies,
  defaultHuman: () => AgentId.parse('alvis'),
};

function humanOf(id: string) {
  return policyOf({ id, runtime: 'human', trust: 'human' });
}

const open = 'd-0123456789abcdef';
const other = 'd-fedcba9876543210';
const answeredAs = (value: string, by = 'alvis'): TaskEvent => ({
  ...{ kind: 'answered', by: human(by), atMs: 9, token: newToken() },
  ...{ decisionId: questionTo(['alvis']).decisionId, value },
});

const move = (to: 'ready' | 'waiting' | 'approved' | 'rejected' | 'done'): Did => ({
  ...{ kind: 'moved', from: 'ready', to },
});
const comment = (text: string): Did => ({ kind: 'commented', commentId: 7, text });
const closed: Did = { kind: 'closed' };
const reopened: Did = { kind: 'reopened' };

interface Case {
  readonly events: readonly TaskEvent[];
  readonly key?: string;
  readonly by?: string;
  readonly human?: string;
  readonly words?: string;
}

const plan = (did: Did, { events, key, by, human: whose = 'alvis', words }: Case): InboxPlan =>
  planAct({
    ...{ did, key, directory, human: PrincipalId.parse(whose), username: by ?? whose },
    ...{ state: fold(events)!, lastWords: words },
  });

const work = (task: TaskOverrides = {}): readonly TaskEvent[] => [
  submittedEvent(task),
  claimedBy(task.agentId ?? 'adolf', { attempt: 1 }),
];
const asked = (question: Partial<Question>, after: readonly TaskEvent[] = []): Case => ({
  events: [
    ...work(),
    askedBy('adolf', 2, ['alvis'], { question: questionTo(['alvis'], question) }),
    ...after,
  ],
  key: open,
});
const gate = (...after: readonly TaskEvent[]) =>
  asked({ kind: 'gate', options: ['approve', 'reject'] }, after);
const free = (...after: readonly TaskEvent[]) => asked({}, after);
const choice = asked({ kind: 'escalation', options: ['retry', 'wider-tier', 'cancel'] });

const answer = (value: string, note?: string) => ({
  ...{ do: 'answer', decisionId: open, value },
  ...(note === undefined ? {} : { note }),
});
const nothing = { do: 'nothing' };
const refused = (why: string, putBack: boolean) => ({
  ...{ do: 'refuse', putBack, why: expect.stringContaining(why) as string },
});

describe('an open question', () => {
  it.each<[string, Did, Case, object]>([
    ['a gate dragged to Approved', move('approved'), gate(), answer('approve')],
    ['a gate dragged to Rejected', move('rejected'), gate(), answer('reject')],
    [
      'with words before it',
      move('rejected'),
      { ...gate(), words: 'Too early.' },
      answer('reject', 'Too early.'),
    ],
    [
      'yes and no by other names',
      move('rejected'),
      asked({ options: ['Yes', 'No'] }),
      answer('No'),
    ],
    [
      'three options dragged',
      move('approved'),
      choice,
      refused('takes words. Comment `/answer` and one of: `retry`', true),
    ],
    ['free text dragged', move('approved'), free(), refused('Comment your answer', true)],
    ['Done', move('done'), gate(), refused('decided nothing', true)],
    ['closed', closed, gate(), refused('decided nothing', true)],
    ['snoozed', move('waiting'), gate(), nothing],
    ['taken out of Snoozed', move('ready'), gate(), nothing],
    ['opened again', reopened, gate(), nothing],
    ['its due date changed', { kind: 'edited', fields: ['date_due'] }, gate(), nothing],
    ['plain words on free text', comment('Monday’s.\r\n'), free(), answer('Monday’s.')],
    ['empty words', comment('  '), free(), nothing],
    ['a remark on a gate', comment('Hm.'), gate(), nothing],
    ['a remark on a choice', comment('Do it again'), choice, refused('taken as a remark', false)],
    ['/approve', comment('/approve'), gate(), answer('approve')],
    ['/approve with its id', comment(`/approve ${open}`), gate(), answer('approve')],
    [
      '/approve with another id',
      comment(`/approve ${other}`),
      gate(),
      refused('not of the question', false),
    ],
    ['/reject with why', comment('/Reject too early'), gate(), answer('reject', 'too early')],
    ['/reject of a choice', comment('/reject'), choice, refused('no answer to this', false)],
    [
      '/answer in free text',
      comment(`/answer ${open} the red\none`),
      free(),
      answer('the red\none'),
    ],
    ['/answer without words', comment('/answer'), free(), refused('no words', false)],
    [
      '/answer with an option',
      comment('/answer Wider-Tier, it is worth it'),
      choice,
      answer('wider-tier', 'it is worth it'),
    ],
    [
      '/answer with no option',
      comment('/answer later'),
      choice,
      refused('none of its answers', false),
    ],
    ['/answer of a gate', comment('/answer reject'), gate(), answer('reject')],
    ['a command that is none', comment('/aprove'), free(), refused('no such command', false)],
    [
      'a path, which is no command',
      comment('/etc/motd says so'),
      free(),
      answer('/etc/motd says so'),
    ],
    [
      'somebody else’s drag',
      move('approved'),
      { ...gate(), by: 'bea' },
      refused('Only **alvis**', true),
    ],
    [
      'somebody else’s snooze',
      move('waiting'),
      { ...gate(), by: 'bea' },
      refused('Only **alvis**', true),
    ],
    [
      'somebody else’s answer',
      comment('red'),
      { ...free(), by: 'bea' },
      refused('Only **alvis**', false),
    ],
    ['somebody else’s remark', comment('red'), { ...gate(), by: 'bea' }, nothing],
  ])('%s', (_name, did, situation, expected) => {
    expect(plan(did, situation)).toEqual(expected);
  });
});

describe('a question that was answered', () => {
  const yes = gate(answeredAs('approve'));
  const said = free(answeredAs('red'));
  const byBea = gate(answeredAs('approve'));
  it.each<[string, Did, Case, object]>([
    ['the same drag', move('approved'), yes, nothing],
    ['the other drag', move('rejected'), yes, refused('Too late: **alvis** has answered', true)],
    ['the same command', comment('/approve'), yes, nothing],
    ['the other command', comment('/reject no!'), yes, refused('Too late', false)],
    ['the same words', comment('red'), said, nothing],
    ['other words', comment('sorry, blue'), said, refused('Too late', false)],
    ['a remark on a gate', comment('Thanks.'), yes, nothing],
    ['put where it belongs', move('done'), said, nothing],
    ['closed', closed, yes, nothing],
    ['opened again', reopened, yes, refused('an answer is not changed', true)],
    [
      'an old id on the next question’s card',
      comment(`/approve ${open}`),
      { ...yes, key: other },
      refused('Too late', false),
    ],
    [
      'somebody else’s command',
      comment('/approve'),
      { ...byBea, by: 'bea' },
      refused('Only **alvis**', false),
    ],
  ])('%s', (_name, did, situation, expected) => {
    expect(plan(did, situation)).toEqual(expected);
  });
});

describe('a result to verify', () => {
  const result: Case = { events: [...work(), settledBy('adolf', 2)], key: 'verify-3' };
  const judged: Case = { ...result, events: [...result.events, verifiedBy('alvis')] };
  const verified = { do: 'verify', verdict: 'verified' };
  const notGood = (note: string) => ({ do: 'verify', verdict: 'refused', note });
  it.each<[string, Did, Case, object]>([
    ['dragged to Approved', move('approved'), result, verified],
    ['dragged to Done', move('done'), result, verified],
    ['closed', closed, result, verified],
    ['/approve', comment('/approve all four'), result, { ...verified, note: 'all four' }],
    ['dragged to Rejected', move('rejected'), result, refused('A refusal needs words', true)],
    ['with words before it', move('rejected'), { ...result, words: 'Four!' }, notGood('Four!')],
    ['/reject with words', comment('/reject four'), result, notGood('four')],
    ['/reject after words', comment('/reject'), { ...result, words: 'Four!' }, notGood('Four!')],
    ['/reject', comment('/reject'), result, refused('A refusal needs words', false)],
    ['a remark', comment('Looks odd.'), result, nothing],
    ['/answer', comment('/answer yes'), result, refused('Comment `/approve`', false)],
    ['snoozed', move('waiting'), result, nothing],
    ['closed by somebody else', closed, { ...result, by: 'bea' }, refused('Only **alvis**', true)],
    ['the same verdict again', move('approved'), judged, nothing],
    ['another verdict', comment('/reject four'), judged, refused('has judged this result', false)],
    ['opened again', reopened, judged, refused('has judged this result', true)],
  ])('%s', (_name, did, situation, expected) => {
    expect(plan(did, situation)).toEqual(expected);
  });
});

describe('a person’s own task', () => {
  const task = { agentId: 'bea', queue: 'bea' };
  const fresh: Case = { events: [submittedEvent(task)], human: 'bea' };
  const put = (question: Partial<Question>, ...after: readonly TaskEvent[]): Case => ({
    events: [
      ...work(task),
      askedBy('bea', 2, ['bea'], { question: questionTo(['bea'], question) }),
      ...after,
    ],
    human: 'bea',
  });
  const finished = (verification: 'submitter' | 'none'): Case => ({
    events: [...work({ ...task, definition: { verification } }), settledBy('bea', 2)],
    human: 'bea',
  });
  it.each<[string, Did, Case, object]>([
    ['a remark before anything is asked', comment('blue'), fresh, nothing],
    ['Done without words', move('done'), fresh, refused('once you say what came of it', true)],
    ['Done with words', move('done'), { ...fresh, words: 'blue' }, { do: 'finish', text: 'blue' }],
    ['closed with words', closed, { ...fresh, words: 'blue' }, { do: 'finish', text: 'blue' }],
    ['Approved with nothing asked', move('approved'), fresh, refused('Nothing was asked', true)],
    ['words once asked', comment('blue'), put({}), answer('blue')],
    ['Done once asked', move('done'), put({}), refused('decided nothing', true)],
    ['Done with words once asked', move('done'), { ...put({}), words: 'blue' }, answer('blue')],
    [
      'Done of a gate',
      closed,
      { ...put({ kind: 'gate' }), words: 'yes' },
      refused('Approved', true),
    ],
    ['Approved of a gate', move('approved'), put({ kind: 'gate' }), answer('approve')],
    ['Done after the answer', move('done'), put({}, answeredAs('blue', 'bea')), nothing],
    ['Done of a result', move('done'), finished('submitter'), nothing],
    ['closing one’s own result', closed, finished('submitter'), refused('verifies', true)],
    ['closing what nobody verifies', closed, finished('none'), nothing],
    [
      'somebody else’s drag',
      move('done'),
      { ...fresh, by: 'alvis' },
      refused('Only **bea**', true),
    ],
  ])('%s', (_name, did, situation, expected) => {
    expect(plan(did, situation)).toEqual(expected);
  });
});
