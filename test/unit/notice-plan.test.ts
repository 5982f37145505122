import { describe, expect, it } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import { noticeIdFor } from '../../fabric/domain/notice.ts';
import type { Receipt, TaskState } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { waitsFor } from '../../fabric/queue/inbox.ts';
import { planNotices, type Sent, type Situation } from '../../keeper/notices/plan.ts';
import { builtAtMs, questionTo } from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { person } from '../support/queue-mesh.ts';
import { after, taskIn } from '../support/task-in-phase.ts';
import { rightEvent } from '../support/right-event.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** A task that puts this question to alvis. */
function asking(question: Partial<Question>): TaskState {
  const working = taskIn('working');
  return after(
    working,
    rightEvent(working, 'asked', { question: questionTo(['alvis'], question) }),
  );
}

const gate = asking({ kind: 'gate', options: ['approve', 'reject'] });
const urgent = asking({ urgent: true });
const plain = asking({});

const noticed = (state: TaskState, n: number, status: Receipt['status'], atMs = builtAtMs) =>
  after(
    state,
    rightEvent(state, 'receipted', {
      ...{ key: noticeIdFor(state.question!.decisionId, 'alvis', n), status, digest: 'd', atMs },
    }),
  );

const planOf = (
  states: readonly TaskState[],
  nowMs = builtAtMs,
  change: Partial<Situation> = {},
) => {
  const alvis = person('alvis');
  const items = states.map((state) => ({ kind: waitsFor(state, alvis)!, state }));
  return planNotices({ person: 'alvis', availability: { a: 1 }, items, ...change }, nowMs);
};
const numbersOf = (state: TaskState, nowMs: number) =>
  planOf([state], nowMs).urgent.map(({ n }) => n);

describe('urgent questions and gates', () => {
  it('go out at once, each by itself, and others do not', () => {
    const { urgent: due } = planOf([gate, plain, urgent, taskIn('dead-letter')]);
    expect(due).toEqual([
      { state: gate, n: 1 },
      { state: urgent, n: 1 },
    ]);
  });

  it('wait while the person is away', () => {
    const away = { availability: { a: 0 }, digest: { day: '2026-11-30' } } as const;
    expect(planOf([gate, plain], builtAtMs, away)).toEqual({ urgent: [], lost: [] });
  });

  it('are spoken of again a day later, and not a moment before', () => {
    const sent = noticed(gate, 1, 'published');
    expect(numbersOf(sent, builtAtMs + limits.remindMs - 1)).toEqual([]);
    expect(numbersOf(sent, builtAtMs + limits.remindMs)).toEqual([2]);
  });

  it('stop being spoken of after so many notices, and then stand in the digest', () => {
    let state = gate;
    const clock = manualClock(builtAtMs);
    for (let n = 1; n <= limits.noticesPerQuestion; n++) {
      expect(numbersOf(state, clock.nowMs())).toEqual([n]);
      state = noticed(state, n, 'published', clock.nowMs());
      clock.step(dayMs);
    }
    const { urgent: due, digest } = planOf([state], clock.nowMs(), { digest: { day: 'd' } });
    expect(due).toEqual([]);
    expect(digest).toMatchObject({ items: [{ state }], told: 0 });
  });

  it('leave the second half of a log to the work', () => {
    const roomFor = { ...gate, version: limits.noticesToVersion - 3 };
    expect(numbersOf(roomFor, builtAtMs)).toEqual([1]);
    expect(numbersOf({ ...gate, version: limits.noticesToVersion - 2 }, builtAtMs)).toEqual([]);
  });

  it('that were prepared and never begun go out under the same number', () => {
    expect(numbersOf(noticed(gate, 1, 'prepared'), builtAtMs)).toEqual([1]);
  });

  it.each(['sending', 'unknown'] as const)(
    'are held once %s; the next day has its own',
    (status) => {
      const held = noticed(gate, 1, status);
      expect(numbersOf(held, builtAtMs + 10 * minuteMs)).toEqual([]);
      expect(numbersOf(held, builtAtMs + dayMs)).toEqual([2]);
    },
  );

  it('are given up as lost where their sender is gone, well after its time', () => {
    const sending = noticed(gate, 1, 'sending');
    const lostAt = (ms: number) => planOf([sending], builtAtMs + ms).lost.length;
    expect(lostAt(5 * minuteMs - 1)).toBe(0);
    expect(lostAt(5 * minuteMs)).toBe(1);
  });

  it('that surely failed are tried again, later each time', () => {
    const once = noticed(gate, 1, 'failed');
    expect(numbersOf(once, builtAtMs + minuteMs - 1)).toEqual([]);
    expect(numbersOf(once, builtAtMs + minuteMs)).toEqual([2]);
    const twice = noticed(once, 2, 'failed');
    expect(numbersOf(twice, builtAtMs + 2 * minuteMs - 1)).toEqual([]);
    expect(numbersOf(twice, builtAtMs + 2 * minuteMs)).toEqual([3]);
  });
});

describe('the digest', () => {
  const day = '2026-11-30';
  const dueOf = (last?: Sent, nowMs = builtAtMs) =>
    planOf([plain, gate], nowMs, { digest: { day, ...(last && { last }) } }).digest;

  it('comes when its hour has struck, with what is not spoken of by itself', () => {
    expect(planOf([plain]).digest).toBeUndefined();
    const items = [{ kind: 'question', state: plain }];
    expect(dueOf()).toEqual({ day, n: 1, items, told: 1 });
  });

  it.each(['sending', 'unknown', 'published'] as const)('is not sent twice once %s', (status) => {
    expect(dueOf({ n: 1, status, atMs: builtAtMs }, builtAtMs + dayMs)).toBeUndefined();
  });

  it('is tried again the same day where it surely failed', () => {
    const failed = { n: 1, status: 'failed', atMs: builtAtMs } as const;
    expect(dueOf(failed, builtAtMs + minuteMs - 1)).toBeUndefined();
    expect(dueOf(failed, builtAtMs + minuteMs)).toMatchObject({ n: 2 });
  });

  it('has all that waits: results, tasks at the door, what was given up', () => {
    const states = [taskIn('done'), taskIn('submitted'), taskIn('dead-letter')];
    const { digest } = planOf(states, builtAtMs, { digest: { day } });
    expect(digest?.items.map(({ kind }) => kind)).toEqual(['verify', 'admit', 'givenUp']);
  });
});
