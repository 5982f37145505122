import { describe, expect, it } from 'vitest';
import { ContextRef, partsOfContextRef } from '../../fabric/domain/context-ref.ts';
import { TaskEvent, type TaskEventKind } from '../../fabric/domain/events.ts';
import { BrokenLogError, fold } from '../../fabric/domain/fold.ts';
import { taskIdFor, TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { Phase } from '../../fabric/domain/state.ts';
import { Outcome, Question, Score } from '../../fabric/domain/task.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { widerEffects } from '../../fabric/domain/trust.ts';
import { newTaskId, questionTo, submittedEvent } from '../support/board-builders.ts';
import { eventKinds, rightEvent, rightEventOf } from '../support/right-event.ts';
import { after, afterKinds, taskIn } from '../support/task-in-phase.ts';

describe('a log that is nearly full', () => {
  const at = (phase: Phase, version: number) => ({ ...taskIn(phase), version });
  const takes = (phase: Phase, kind: TaskEventKind, version: number) => {
    const state = at(phase, version);
    return transition(state, rightEventOf(state, kind)).ok;
  };

  it('takes a claim only with room for its start and any end', () => {
    const last = limits.reservedFromVersion - limits.eventsOfRun - 1;
    expect(takes('ready', 'claimed', last)).toBe(true);
    expect(takes('ready', 'claimed', last + 1)).toBe(false);
    const state = at('ready', last + 1);
    const refused = transition(state, rightEventOf(state, 'claimed'));
    expect(refused).toEqual({ ok: false, reason: 'versionsSpent' });
    for (const end of eventKinds.filter((kind) => takes('working', kind, 3))) {
      const run = afterKinds(at('ready', last), 'claimed', 'started');
      expect(transition(run, rightEventOf(run, end)).ok, end).toBe(true);
    }
  });

  it('takes every kind as event 479 and only ends and decisions as event 480', () => {
    const reserved = limits.reservedFromVersion;
    expect(takes('ready', 'noted', reserved - 2)).toBe(true);
    expect(takes('ready', 'noted', reserved - 1)).toBe(false);
    expect(takes('working', 'settled', reserved - 1)).toBe(true);
    const kept = eventKinds.filter((kind) =>
      (['ready', 'working', 'needs-review', 'done'] as const).some((phase) =>
        takes(phase, kind, reserved - 1),
      ),
    );
    expect(kept).toEqual([
      'released',
      'expired',
      'failed',
      'parked',
      'answered',
      'uncertain',
      'settled',
      'cancelRequested',
      'canceled',
      'verified',
      'refused',
      'deadLettered',
      'archived',
    ]);
  });

  it('lets the last run be stopped, by whatever ends it', () => {
    const asked = afterKinds(at('working', limits.reservedFromVersion), 'cancelRequested');
    expect(afterKinds(asked, 'canceled').phase).toBe('canceled');
    expect(afterKinds(at('working', limits.reservedFromVersion), 'expired').phase).toBe('ready');
  });

  it('takes event 512 and nothing after it', () => {
    expect(takes('done', 'verified', limits.versions - 1)).toBe(true);
    expect(takes('done', 'verified', limits.versions)).toBe(false);
  });
});

describe('a task’s questions', () => {
  it(`are ${limits.decisions}, then it is refused, never forgotten`, () => {
    const state = taskIn('working');
    const one = { ...afterKinds(state, 'asked', 'answered').decisions[0]! };
    const decisions = (count: number) => Array.from({ length: count }, () => one);
    const full = { ...state, decisions: decisions(limits.decisions) };
    const nearly = { ...state, decisions: decisions(limits.decisions - 1) };
    expect(transition(nearly, rightEvent(nearly, 'asked')).ok).toBe(true);
    expect(transition(full, rightEvent(full, 'asked'))).toEqual({
      ok: false,
      reason: 'decisionsFull',
    });
    // A run that is lost is a person's to judge, however much was asked before.
    const lost = { ...full, task: { ...full.task, effects: 'external' as const } };
    expect(afterKinds(lost, 'expired', 'answered').decisions).toHaveLength(limits.decisions + 1);
  });
});

describe('bounds of what is said', () => {
  const ok = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
    schema.safeParse(value).success;
  const text = (chars: number) => 'x'.repeat(chars);

  it('holds them at the bound and not one past it', () => {
    const outcome = (chars: number) => ({ summary: text(chars), artifacts: [] });
    expect(ok(Outcome, outcome(limits.messageChars))).toBe(true);
    expect(ok(Outcome, outcome(limits.messageChars + 1))).toBe(false);
    expect(ok(Outcome, outcome(0))).toBe(false);
    const question = (chars: number) => questionTo(['alvis'], { text: text(chars) });
    expect(ok(Question, question(limits.answerChars))).toBe(true);
    expect(ok(Question, question(limits.answerChars + 1))).toBe(false);
    expect(ok(Question, { ...question(1), to: [] })).toBe(false);
    const options = (count: number) =>
      questionTo(['alvis'], { options: Array.from({ length: count }, () => 'x') });
    expect(ok(Question, options(8))).toBe(true);
    expect(ok(Question, options(9))).toBe(false);
  });

  it('holds them in events too', () => {
    const split = (count: number) =>
      rightEvent(taskIn('input-required'), 'split', {
        children: Array.from({ length: count }, newTaskId),
      });
    expect(ok(TaskEvent, split(limits.splitChildren))).toBe(true);
    expect(ok(TaskEvent, split(limits.splitChildren + 1))).toBe(false);
    const answer = (chars: number) =>
      rightEvent(taskIn('input-required'), 'answered', { value: text(chars) });
    expect(ok(TaskEvent, answer(limits.answerChars))).toBe(true);
    expect(ok(TaskEvent, answer(limits.answerChars + 1))).toBe(false);
    const note = (chars: number) => rightEvent(taskIn('ready'), 'noted', { text: text(chars) });
    expect(ok(TaskEvent, note(limits.inlineBytes))).toBe(true);
    expect(ok(TaskEvent, note(limits.inlineBytes + 1))).toBe(false);
  });

  it('accepts every event that the table is tested with', () => {
    const phaseFor: Partial<Record<TaskEventKind, Phase>> = { answered: 'needs-review' };
    for (const kind of eventKinds) {
      const event = rightEventOf(taskIn(phaseFor[kind] ?? 'working'), kind);
      expect(TaskEvent.safeParse(event).error, kind).toBeUndefined();
    }
  });

  it('knows eight scores', () => {
    const scores = Array.from({ length: 25 }, (_, score) => score).filter((score) =>
      ok(Score, score),
    );
    expect(scores).toEqual([0, 1, 2, 3, 5, 8, 13, 21]);
  });
});

describe('context refs', () => {
  it.each([
    'git:cardmesh@a1b2c3#docs/design.md',
    'git:cardmesh@main',
    'task:0123456789abcdef0123456789abcdef',
    'task:12/345',
    'task:#345',
    'bank:alvis',
    'file:/srv/report.pdf',
    'url:https://example.org/a?b=c',
    `artifact:${'0'.repeat(64)}`,
  ])('takes %s', (text) => {
    const ref = ContextRef.parse(text);
    const { kind, value } = partsOfContextRef(ref);
    expect(`${kind}:${value}`).toBe(text);
  });

  it.each([
    '',
    'cardmesh',
    'git:cardmesh',
    'git:@main',
    'task:123',
    'task:',
    'bank:',
    'bank:../alvis',
    'file:',
    'url:http://example.org',
    'url:file:///etc/passwd',
    'artifact:abc',
    `artifact:${'G'.repeat(64)}`,
    'constructor:x',
    '__proto__:x',
    'mailto:somebody@example.org',
    `file:${'x'.repeat(1_020)}`,
  ])('refuses %s', (text) => {
    expect(ContextRef.safeParse(text).success).toBe(false);
  });
});

describe('task ids', () => {
  const uid = (...parts: [string, string, string]) => taskIdFor('secret', ...parts);

  it('are the same for the same submit and different for any other', () => {
    expect(uid('alvis', 'adolf', 'key')).toBe(uid('alvis', 'adolf', 'key'));
    expect(TaskId.safeParse(uid('alvis', 'adolf', 'key')).success).toBe(true);
    const all = [
      uid('alvis', 'adolf', 'key'),
      uid('alvis', 'adolf', 'yek'),
      uid('alvis', 'berta', 'key'),
      uid('boris', 'adolf', 'key'),
      taskIdFor('other', 'alvis', 'adolf', 'key'),
      // Parts that look the same when they are only put together.
      uid('alvis|5:adolf', '', 'key'),
      uid('alvi', 'sadolf', 'key'),
      uid('', 'alvis', 'adolfkey'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('folds', () => {
  it('stop at an event that does not apply', () => {
    const submit = submittedEvent();
    const settled = rightEvent(taskIn('working'), 'settled');
    expect(() => fold([submit, settled])).toThrow(BrokenLogError);
    expect(() => fold([submit, settled])).toThrow(/event 2 .*wrongPhase/);
    expect(fold([])).toBeUndefined();
  });

  it('go on from a state as from its log', () => {
    const state = taskIn('claimed');
    expect(after(state, rightEvent(state, 'expired')).version).toBe(3);
  });

  it('take the wider of two effects', () => {
    expect(widerEffects('none', 'workspace')).toBe('workspace');
    expect(widerEffects('external', 'workspace')).toBe('external');
    expect(widerEffects('none', 'none')).toBe('none');
  });
});
