import { describe, expect, it } from 'vitest';
import type { TaskEventKind } from '../../fabric/domain/events.ts';
import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Phase, TaskState } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { questionTo } from '../support/board-builders.ts';
import { cast, rightEvent, rightEventOf } from '../support/right-event.ts';
import { after, afterKinds, taskIn } from '../support/task-in-phase.ts';

const phaseAfter = (state: TaskState, kind: TaskEventKind): Phase | undefined => {
  const next = transition(state, rightEventOf(state, kind));
  return next.ok ? next.state.phase : undefined;
};

describe('attempts', () => {
  const lose = (state: TaskState) => afterKinds(state, 'claimed', 'started', 'expired');

  it(`ends in the dead letters after ${limits.attempts} lost runs`, () => {
    const second = lose(lose(taskIn('ready')));
    expect(second).toMatchObject({ phase: 'ready', attempts: limits.attempts - 1 });
    expect(lose(second)).toMatchObject({ phase: 'dead-letter', attempts: limits.attempts });
  });

  it('counts none that says nothing about the task', () => {
    for (const kind of ['released', 'parked', 'deferred', 'asked'] as const) {
      expect(afterKinds(taskIn('working'), kind).attempts, kind).toBe(0);
    }
  });

  it('lets a run ask more often than it may fail', () => {
    let state = taskIn('ready');
    for (let asked = 0; asked < limits.attempts + 2; asked++) {
      state = afterKinds(state, 'claimed', 'started', 'asked', 'answered');
    }
    expect(state).toMatchObject({ phase: 'ready', attempts: 0 });
  });

  it('takes no claim once they are spent, and no wrong number', () => {
    const spent = { ...taskIn('ready'), attempts: limits.attempts };
    const refused = transition(spent, rightEvent(spent, 'claimed'));
    expect(refused).toEqual({ ok: false, reason: 'attemptsSpent' });
    const claimed = taskIn('claimed');
    const wrong = rightEvent(claimed, 'started', { attempt: 2 });
    expect(transition(claimed, wrong)).toEqual({ ok: false, reason: 'wrongAttempt' });
    const both = rightEvent(taskIn('ready'), 'claimed', { attempt: 2 });
    expect(transition(taskIn('ready'), both)).toEqual({ ok: false, reason: 'wrongAttempt' });
  });

  it('starts at once where nothing lies between claim and start', () => {
    const ready = taskIn('ready');
    const state = after(ready, rightEvent(ready, 'claimed', { attempt: 1 }));
    expect(state).toMatchObject({ phase: 'working', attempts: 1, claim: { started: true } });
  });
});

describe('questions', () => {
  const ask = (state: TaskState, question: Partial<Question>) =>
    after(state, rightEvent(state, 'asked', { question: questionTo(['alvis'], question) }));

  it.each(['submitted', 'ready', 'scheduled'] as const)(
    'return it to %s, where it was asked',
    (phase) => {
      const state = ask(taskIn(phase), { kind: 'deadline', options: ['go on', 'cancel'] });
      expect(afterKinds(state, 'answered').phase).toBe(phase);
      const canceled = after(state, rightEvent(state, 'answered', { value: 'cancel' }));
      expect(canceled.phase).toBe('canceled');
    },
  );

  it('make it ready when rated, unless it still waits to be admitted', () => {
    const rating: Partial<Question> = { kind: 'rating', options: ['1', '8'] };
    const rated = (admitted: boolean, from: 'submitted' | 'ready') => {
      const state = ask(taskIn(from, { admitted }), rating);
      return after(state, rightEvent(state, 'answered', { value: '8' }));
    };
    expect(rated(true, 'submitted')).toMatchObject({ phase: 'ready', score: 8 });
    expect(rated(false, 'submitted')).toMatchObject({ phase: 'submitted', score: 8 });
    expect(rated(false, 'ready').phase).toBe('ready');
  });

  it('refuse a rating that is no score', () => {
    const state = ask(taskIn('ready'), { kind: 'rating', options: ['huge', '4'] });
    for (const value of ['huge', '4']) {
      const refused = transition(state, rightEvent(state, 'answered', { value }));
      expect(refused).toEqual({ ok: false, reason: 'notAnOption' });
    }
  });

  it('are answered by exact id', () => {
    const state = ask(taskIn('working'), {});
    const old = rightEvent(taskIn('needs-review'), 'answered');
    expect(transition(state, old)).toEqual({ ok: false, reason: 'wrongDecision' });
    const twice = afterKinds(state, 'answered');
    const again = rightEvent(state, 'answered');
    expect(transition(twice, again)).toEqual({ ok: false, reason: 'wrongDecision' });
  });

  it('of a tainted or outward task are answered by people only', () => {
    const bySubmitter = { ...cast.reviewer };
    for (const [task, ok] of [
      [{}, true],
      [{ tainted: true }, false],
      [{ effects: 'external' }, false],
    ] as const) {
      const working = taskIn('working', task);
      const question = questionTo(['reviewer']);
      const state = after(working, rightEvent(working, 'asked', { question }));
      expect(transition(state, rightEvent(state, 'answered', { by: bySubmitter })).ok).toBe(ok);
    }
  });
});

describe('verification', () => {
  it('is never the producer’s', () => {
    const byProducer = { by: { ...cast.producer } };
    for (const [phase, kind] of [
      ['done', 'verified'],
      ['done', 'refused'],
      ['approved', 'verified'],
      ['reviewing', 'reviewed'],
    ] as const) {
      const state = taskIn(phase);
      const next = transition(state, rightEvent(state, kind, byProducer));
      expect(next).toEqual({ ok: false, reason: 'producerCannotVerify' });
    }
  });

  it('is a person’s where the task is tainted, its policy says so, or a reviewer passes it on', () => {
    const escalated = after(
      taskIn('reviewing'),
      rightEvent(taskIn('reviewing'), 'reviewed', { verdict: 'escalate' }),
    );
    const tainted = taskIn('done', { tainted: true });
    const human = taskIn('done', { verification: 'human' });
    for (const state of [escalated, tainted, human]) {
      const byAgent = rightEvent(state, 'verified', { by: cast.reviewer });
      expect(transition(state, byAgent)).toEqual({ ok: false, reason: 'humanOnly' });
      expect(phaseAfter(state, 'reviewStarted')).toBeUndefined();
      expect(phaseAfter(state, 'verified')).toBe('verified');
    }
  });

  it('ends at a reviewer’s no, and follows the outcome’s own taint', () => {
    const reviewing = taskIn('reviewing');
    const no = rightEvent(reviewing, 'reviewed', { verdict: 'reject' });
    expect(after(reviewing, no).phase).toBe('refused');
    const working = taskIn('working');
    const outcome = { summary: 'It is done.', artifacts: [], tainted: true };
    expect(after(working, rightEvent(working, 'settled', { outcome })).needsHumanVerify).toBe(true);
  });

  it('can’t take back what was completed without it', () => {
    const state = taskIn('done', { verification: 'none' });
    const refused = transition(state, rightEvent(state, 'refused'));
    expect(refused).toEqual({ ok: false, reason: 'alreadyCompleted' });
  });
});

describe('who else may do what', () => {
  const humanOnly: readonly (readonly [Phase, TaskEventKind])[] = [
    ['suggested', 'admitted'],
    ['ready', 'edited'],
    ['ready', 'paused'],
    ['paused', 'resumed'],
    ['working', 'revokeRequested'],
    ['input-required', 'split'],
    ['dead-letter', 'archived'],
  ];

  it.each(humanOnly)('%s: only a person has it %s', (phase, kind) => {
    const state = taskIn(phase, { admitted: false });
    for (const by of [cast.producer, cast.reviewer, cast.keeper, cast.fabric]) {
      const event = { ...rightEventOf(state, kind), by };
      expect(transition(state, event)).toEqual({ ok: false, reason: 'humanOnly' });
    }
  });

  it('cancels: its submitter and people', () => {
    const state = taskIn('ready');
    const by = (author: (typeof cast)[keyof typeof cast]) =>
      transition(state, rightEvent(state, 'canceled', { by: author }));
    expect(by(cast.stranger).ok).toBe(true);
    expect(by(cast.reviewer)).toEqual({ ok: false, reason: 'notCanceler' });
    expect(by(cast.keeper)).toEqual({ ok: false, reason: 'notCanceler' });
  });

  it('archives what was completed without verification: the keeper too, after its time', () => {
    const done = (verification: 'none' | 'reviewer') => taskIn('done', { verification });
    const byKeeper = { by: cast.keeper };
    expect(transition(done('none'), rightEvent(done('none'), 'archived', byKeeper)).ok).toBe(true);
    expect(
      transition(done('reviewer'), rightEvent(done('reviewer'), 'archived', byKeeper)).ok,
    ).toBe(false);
  });

  it('routes once, and the task is as careful as the agent that was chosen', () => {
    const ready = taskIn('ready', { effects: 'none' });
    const routed = after(ready, rightEvent(ready, 'routed', { effects: 'external' }));
    expect(routed).toMatchObject({ agentId: 'adolf', task: { effects: 'external' } });
    const again = rightEvent(routed, 'routed', {
      agentId: AgentId.parse('berta'),
      queue: QueueId.parse('berta'),
    });
    expect(transition(routed, again)).toEqual({ ok: false, reason: 'wrongPhase' });
    const less = after(ready, rightEvent(ready, 'routed'));
    expect(less.task.effects).toBe('none');
    expect(afterKinds(routed, 'claimed', 'started', 'expired').phase).toBe('needs-review');
  });
});

describe('receipts', () => {
  it('only grow, and never change what they prove', () => {
    const receipt = (status: 'prepared' | 'sending' | 'published' | 'unknown', digest = 'd1') => ({
      key: 'comment',
      status,
      digest,
    });
    const state = taskIn('done');
    const sending = after(state, rightEvent(state, 'receipted', receipt('sending')));
    const published = after(sending, rightEvent(sending, 'receipted', receipt('published')));
    expect(published.receipts['comment']?.status).toBe('published');
    for (const worse of [receipt('unknown'), receipt('prepared'), receipt('published', 'd2')]) {
      const next = transition(published, rightEvent(published, 'receipted', worse));
      expect(next).toEqual({ ok: false, reason: 'receiptConflict' });
    }
    for (const key of ['__proto__', 'constructor']) {
      const next = transition(
        state,
        rightEvent(state, 'receipted', { ...receipt('sending'), key }),
      );
      expect(next.ok || next.reason === 'receiptConflict').toBe(true);
    }
  });
});
