import { describe, expect, it } from 'vitest';
import { lastNotice, noticeIdFor } from '../../fabric/domain/notice.ts';
import type { Receipt, TaskState } from '../../fabric/domain/state.ts';
import type { AskedByRun } from '../../fabric/ports/run-task.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { builtAtMs, keeper } from '../support/board-builders.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';
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

describe('proof that came later', () => {
  const open = async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const question: AskedByRun = { kind: 'question', to: 'submitter', text: 'Which?', options: [] };
    const { question: put } = await mesh.run(taskId, { kind: 'asked', question });
    const key = noticeIdFor(put!.decisionId, 'alvis', 1);
    const record = (status: Receipt['status'], more: Partial<Receipt> = {}) =>
      change(mesh.deps, taskId, () => {
        const body = { key, status, digest: 'd', ...more };
        return eventOf(mesh.deps, keeper, 'receipted', body);
      });
    const received = (receiptId: string, queueReceiptId?: string, who = 'alvis') =>
      steerTask(mesh.deps, person(who), taskId, {
        ...{ do: 'received', noticeId: key, receiptId },
        ...(queueReceiptId === undefined ? {} : { queueReceiptId }),
      });
    const receiptOf = async () => (await mesh.stateOf(taskId)).receipts[key];
    return { mesh, taskId, record, received, receiptOf };
  };

  it.each(['sending', 'unknown'] as const)('settles a notice that is %s, once', async (status) => {
    const { record, received, receiptOf, mesh, taskId } = await open();
    await record(status);
    await received('shown-7');
    expect(await receiptOf()).toMatchObject({ status: 'published', receiptId: 'shown-7' });
    const { version } = await mesh.stateOf(taskId);
    await received('shown-7');
    expect((await mesh.stateOf(taskId)).version).toBe(version);
    await expect(received('shown-8')).rejects.toThrow(/receiptConflict/);
    await record('published', { queueReceiptId: 'late' });
    expect(await receiptOf()).toMatchObject({ receiptId: 'shown-7', queueReceiptId: 'late' });
  });

  it('of a queued notice names the receipt of its queue', async () => {
    const { record, received, receiptOf } = await open();
    await record('published', { queueReceiptId: 'queue-5' });
    await expect(received('shown-7')).rejects.toThrow(/another receipt/);
    await expect(received('shown-7', 'queue-6')).rejects.toThrow(/another receipt/);
    await received('shown-7', 'queue-5');
    const both = { queueReceiptId: 'queue-5', receiptId: 'shown-7' };
    expect(await receiptOf()).toMatchObject(both);
  });

  it('is refused for a notice that never was, never went out, or is not theirs', async () => {
    const { record, received } = await open();
    await expect(received('shown-7')).rejects.toThrow(/is on record/);
    await record('prepared');
    await expect(received('shown-7')).rejects.toThrow(/never went out/);
    await record('sending');
    await expect(received('shown-7', undefined, 'mallory')).rejects.toThrow(/no task/);
  });
});
