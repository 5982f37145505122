import { describe, expect, it } from 'vitest';
import { lastNotice, noticeIdFor } from '../../fabric/domain/notice.ts';
import type { Receipt, TaskState } from '../../fabric/domain/state.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { builtAtMs } from '../support/board-builders.ts';
import { rightEvent } from '../support/right-event.ts';
import { after, taskIn } from '../support/task-in-phase.ts';

const asked = taskIn('input-required');
const noticeId = (n: number) => noticeIdFor(asked.question!.decisionId, 'alvis', n);
const noticed = (state: TaskState, n: number, status: Receipt['status']) =>
  after(state, rightEvent(state, 'receipted', { key: noticeId(n), status, digest: 'd' }));

describe('notices of a question', () => {
  it('are counted to the newest, of this person alone', () => {
    expect(lastNotice(asked, 'alvis')).toBeUndefined();
    const twice = noticed(noticed(asked, 1, 'published'), 2, 'sending');
    expect(lastNotice(twice, 'alvis')).toMatchObject({ n: 2, receipt: { status: 'sending' } });
    expect(lastNotice(twice, 'bob')).toBeUndefined();
  });

  it('stand in the reason why a task waits', () => {
    const why = (state: TaskState) => whyWaiting(state, { nowMs: builtAtMs });
    expect(why(noticed(asked, 1, 'published'))).toContain('alvis was told of it at 2026-11-30');
    expect(why(noticed(asked, 1, 'failed'))).toContain('A notice to alvis failed at 2026-11-30');
    const held = why(noticed(asked, 1, 'unknown'));
    expect(held).toContain(`Nobody knows whether notice ${noticeId(1)}`);
  });

  it('wait for a person who is away, and the reason says until when', () => {
    const untilMs = Date.UTC(2027, 0, 4, 7);
    const reasons = ['on vacation until 2027-01-04 07:00 UTC'];
    const why = whyWaiting(asked, { nowMs: builtAtMs, addressee: { a: 0, reasons, untilMs } });
    expect(why).toContain('alvis is away until 2027-01-04 07:00:00Z (on vacation');
    expect(why).toContain('nothing is decided meanwhile');
  });
});
