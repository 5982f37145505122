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
  unknown: 2,
  published: 3,
};

/** Monotonic: evidence of a publication is never downgraded; a differing digest is a conflict. */
export function receipted(before: TaskState, event: EventOf<'receipted'>): Transition {
  const known = before.receipts[event.key];
  if (known && known.digest !== event.digest) return refuse('receiptConflict');
  if (known && rank[event.status] < rank[known.status]) return refuse('receiptConflict');
  const receipt = { status: event.status, digest: event.digest };
  return to(before, event, { receipts: { ...before.receipts, [event.key]: receipt } });
}
