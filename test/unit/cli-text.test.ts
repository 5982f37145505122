import { describe, expect, it } from 'vitest';
import { columns, displayWidth } from '../../cli/text/columns.ts';
import { eventSentence } from '../../cli/text/event-sentence.ts';
import { atMsOf, parseSpan, parseWhen } from '../../cli/text/points-in-time.ts';
import { oneLine, printable } from '../../cli/text/printable.ts';
import { instant, relative, span } from '../../cli/text/relative-time.ts';
import { taskTable } from '../../cli/text/task-table.ts';
import { standsAt } from '../../cli/verbs/task-held-options.ts';
import { TaskEvent } from '../../fabric/domain/events.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { taskIn } from '../support/task-in-phase.ts';

const nowMs = Date.UTC(2026, 10, 30, 12, 0, 0);

describe('text of others on a terminal', () => {
  it.each([
    ['clear \u001b[2Jscreen', 'clear screen'],
    ['title \u001b]0;owned\u0007 end', 'title  end'],
    ['a\r\nb\tc', 'a\nb\tc'],
    ['over\rwrite', 'over\ufffdwrite'],
    ['bell\u0007 nul\u0000 c1\u009b31m', 'bell\ufffd nul\ufffd c1'],
    ['abc\u202edef', 'abc\ufffddef'],
    ['naïve 日本語 🙂', 'naïve 日本語 🙂'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('cuts by letters, not by halves of them', () => {
    expect(oneLine('🙂🙂🙂🙂', 3)).toBe('🙂🙂…');
    expect(oneLine('two\n  lines ', 20)).toBe('two lines');
  });
});

describe('columns', () => {
  it('aligns wide and coloured cells', () => {
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('\u001b[1mbold\u001b[0m')).toBe(4);
    expect(
      columns([
        ['日本', 'x'],
        ['abcd', 'y'],
        ['', 'z'],
      ]),
    ).toBe('日本  x\nabcd  y\n      z');
  });

  it.each([80, 60, 40])('fits %d places, cutting the widest cells first', (most) => {
    const row = ['1a2b3c4d', 'ready', '日本語'.repeat(20), 'x'.repeat(30)];
    const lines = columns([['task', 'state', 'title', 'more'], row], most).split('\n');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(most);
    expect(lines[1]).toMatch(/^1a2b3c4d {2}ready .+…/);
    expect(columns([row])).not.toContain('…');
  });

  it('leaves no spaces at the end of a line', () => {
    expect(
      columns([
        ['long cell', 'b'],
        ['a', ''],
      ]),
    ).toBe('long cell  b\na');
  });
});

describe('times', () => {
  it.each([
    [0, 'now'],
    [999, 'now'],
    [1_000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [47 * 3_600_000, '47 h ago'],
    [48 * 3_600_000, '2 d ago'],
    [-90_000, 'in 1 min'],
  ])('%d ms back is %s', (backMs, words) => {
    expect(relative(nowMs - backMs, nowMs)).toBe(words);
  });

  it('writes an instant with its distance', () => {
    expect(instant(nowMs + 3 * 3_600_000, nowMs)).toBe('2026-11-30 15:00 UTC (in 3 h)');
    expect(span(125_000)).toBe('2 min');
  });

  it('reads spans and instants as people write them', () => {
    expect(parseSpan('15m')).toBe(900_000);
    expect(atMsOf(parseWhen('in 2 h'), nowMs)).toBe(nowMs + 7_200_000);
    expect(atMsOf(parseWhen('2026-12-24T18:00Z'), nowMs)).toBe(Date.UTC(2026, 11, 24, 18));
    for (const wrong of ['soon', '5', '0m', '1.5h', '2026-13-01', '']) {
      expect(() => parseWhen(wrong), wrong).toThrow(/2h, 3d/);
    }
  });
});

describe('events as sentences', () => {
  const sentence = (kind: string, body: object): string =>
    eventSentence(
      TaskEvent.parse({
        kind,
        by: { id: 'alvis', role: 'human' },
        atMs: nowMs,
        token: 'a'.repeat(16),
        ...body,
      }),
      nowMs,
    );

  it.each([
    [
      'claimed',
      { holder: 'alvis', incarnation: 'i', leaseMs: 1, attempt: 2 },
      'alvis took it and began attempt 2',
    ],
    [
      'failed',
      { fence: 2, reason: 'exit 1', retryable: true },
      'alvis failed, may be tried again: exit 1',
    ],
    [
      'parked',
      { fence: 2, reason: 'quota', untilMs: nowMs + 60_000 },
      'alvis parked it until 2026-11-30 12:01 UTC (in 1 min): quota',
    ],
    ['edited', { priority: 1, deadlineAtMs: null }, 'alvis changed priority to 1, no deadline'],
    [
      'answered',
      { decisionId: `d-${'0'.repeat(16)}`, value: 'yes', note: 'sure' },
      'alvis answered: yes (sure)',
    ],
    ['refused', { note: 'risk 3\nis missing' }, 'alvis refused it: risk 3 is missing'],
    [
      'linked',
      { relation: 'rework', taskId: '1a2b3c4d'.repeat(4) },
      'alvis linked the rework task 1a2b3c4d',
    ],
    ['archived', {}, 'alvis archived it'],
  ])('%s', (kind, body, words) => {
    expect(sentence(kind, body)).toBe(words);
  });
});

describe('a parked task in words', () => {
  const atMs = Date.UTC(2026, 10, 30, 12);
  const parked = { reason: 'the quota\nis used up', untilMs: atMs + 5 * 3_600_000 };
  const state: TaskState = { ...taskIn('ready'), parked, phaseAtMs: atMs };

  it('says until when and why where it was parked', () => {
    expect(standsAt(state).text).toBe(
      `${state.taskId.slice(0, 8)} is parked until 2026-11-30 17:00 UTC (in 5 h): the quota is used up.`,
    );
    expect(standsAt(taskIn('ready')).text).toMatch(/is ready\.$/);
  });

  it('says until when in the table, while that lies ahead', () => {
    const unavailable = new Set<string>();
    expect(taskTable([state], { nowMs: atMs, unavailable })).toContain('parked, in 5 h');
    expect(taskTable([state], { nowMs: parked.untilMs, unavailable })).toMatch(/ ready /);
  });
});
