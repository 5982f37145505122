import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EventOf } from '../../fabric/domain/events.ts';
import type { Receipt } from '../../fabric/domain/state.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { rightEvent } from '../support/right-event.ts';
import { taskIn } from '../support/task-in-phase.ts';

const key = 'notice:d-0123456789abcdef:alvis:1';
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** What anybody may report of one notice, early, late, twice or wrongly. */
const report = fc.record({
  status: fc.constantFrom<Receipt['status'][]>(
    ...(['prepared', 'sending', 'failed', 'unknown', 'published'] as const),
  ),
  digest: fc.constantFrom('d1', 'd1', 'd1', 'd2'),
  queueReceiptId: maybe(fc.constantFrom('q1', 'q2')),
  receiptId: maybe(fc.constantFrom('r1', 'r2')),
  laterMs: fc.nat(1_000),
});

it('keeps the proof that a notice went out, in whatever order its results come', () => {
  fc.assert(
    fc.property(fc.array(report, { maxLength: 12 }), (reports) => {
      let state = taskIn('input-required');
      for (const { laterMs, queueReceiptId, receiptId, ...rest } of reports) {
        const before = state.receipts[key];
        const event = rightEvent(state, 'receipted', {
          ...{ key, ...rest, atMs: 1 + laterMs },
          ...(queueReceiptId === undefined ? {} : { queueReceiptId }),
          ...(receiptId === undefined ? {} : { receiptId }),
        } satisfies Partial<EventOf<'receipted'>>);
        const next = transition(state, event);
        if (next.ok) state = next.state;
        const after = state.receipts[key];
        if (before?.status === 'published') expect(after?.status).toBe('published');
        if (before?.receiptId !== undefined) expect(after?.receiptId).toBe(before.receiptId);
        if (before?.queueReceiptId !== undefined)
          expect(after?.queueReceiptId).toBe(before.queueReceiptId);
        if (before) expect(after?.digest).toBe(before.digest);
      }
    }),
    { numRuns: 1_000 },
  );
});
