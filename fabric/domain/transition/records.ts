import type { EventOf } from '../events.ts';
import {
  closedPhases,
  refuse,
  to,
  type Receipt,
  type TaskState,
  type Transition,
} from '../state.ts';

/** Follow-up messages are stored and change no state. */
export function noted(before: TaskState, event: EventOf<'noted'>): Transition {
  if (closedPhases.has(before.phase) || before.phase === 'done') return refuse('wrongPhase');
  const note = {
    messageId: event.messageId,
    text: event.text,
    by: event.by.id,
    atMs: event.atMs,
  };
  return to(before, event, { notes: [...before.notes, note] });
}

export function linked(before: TaskState, event: EventOf<'linked'>): Transition {
  const link = { relation: event.relation, taskId: event.taskId };
  return to(before, event, { links: [...before.links, link] });
}

const rank: Readonly<Record<Receipt['status'], number>> = {
  prepared: 0,
  sending: 1,
  failed: 2,
  unknown: 3,
  published: 4,
};

/** Monotonic: evidence of a publication is never downgraded; a differing digest or receipt is a conflict. */
export function receipted(before: TaskState, event: EventOf<'receipted'>): Transition {
  const known = before.receipts[event.key];
  if (known && contradicts(known, event)) return refuse('receiptConflict');
  const { status, digest } = event;
  const queueReceiptId = event.queueReceiptId ?? known?.queueReceiptId;
  const receiptId = event.receiptId ?? known?.receiptId;
  const receipt: Receipt = {
    ...{ status, digest, atMs: known?.status === status ? known.atMs : event.atMs },
    ...(queueReceiptId === undefined ? {} : { queueReceiptId }),
    ...(receiptId === undefined ? {} : { receiptId }),
  };
  return to(before, event, { receipts: { ...before.receipts, [event.key]: receipt } });
}

function contradicts(known: Receipt, event: EventOf<'receipted'>): boolean {
  const differs = (one: string | undefined, other: string | undefined): boolean =>
    one !== undefined && other !== undefined && one !== other;
  return (
    known.digest !== event.digest ||
    rank[event.status] < rank[known.status] ||
    differs(known.queueReceiptId, event.queueReceiptId) ||
    differs(known.receiptId, event.receiptId)
  );
}
