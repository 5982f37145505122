import { MeshError } from '../domain/errors.ts';
import type { TaskEvent } from '../domain/events.ts';
import { authorOf, type Principal } from '../domain/principal.ts';
import type { Receipt, TaskState } from '../domain/state.ts';
import { eventOf } from './change.ts';
import type { QueueDeps } from './deps.ts';

/** Proof that a notice reached its person, which came after it had gone out. */
export interface Arrival {
  /** As the notice itself and `mesh why` name it. */
  readonly noticeId: string;
  readonly receiptId: string;
  /** What the transport called it when it took it over; needed where that is on record. */
  readonly queueReceiptId?: string;
}

/**
 * Puts that proof into the log; nothing is sent again. Undefined where the same proof is there already.
 * @throws MeshError `NOT_FOUND`, `TRUST_DENIED`, `BAD_TRANSITION`, `RECEIPT_CONFLICT`
 */
export function receivedEvent(
  deps: QueueDeps,
  principal: Principal,
  { taskId, receipts }: TaskState,
  { noticeId, receiptId, queueReceiptId }: Arrival,
): TaskEvent | undefined {
  const known = Object.hasOwn(receipts, noticeId) ? receipts[noticeId] : undefined;
  const [kind, , person] = noticeId.split(':');
  if (known === undefined || kind !== 'notice') {
    const says = `No notice ${noticeId} of task ${taskId} is on record. Its id is in mesh why.`;
    throw new MeshError('NOT_FOUND', says, { taskId });
  }
  if (person !== principal.id && !principal.scopes.has('admin')) {
    const says = `Notice ${noticeId} is not for ${principal.id}. Only whom it is for may say that it came.`;
    throw new MeshError('TRUST_DENIED', says, { taskId });
  }
  requireSent(known, noticeId, queueReceiptId);
  if (known.receiptId === receiptId) return undefined;
  // Another proof than the one on record is refused by the log itself.
  return eventOf(deps, authorOf(principal), 'receipted', {
    ...{ key: noticeId, status: 'published', digest: known.digest, receiptId },
    ...(queueReceiptId === undefined ? {} : { queueReceiptId }),
  });
}

function requireSent(
  { status, queueReceiptId: onRecord }: Receipt,
  noticeId: string,
  given: string | undefined,
): void {
  if (status === 'prepared' || status === 'failed') {
    const says = `Notice ${noticeId} never went out (${status}), so it can't have come.`;
    throw new MeshError('BAD_TRANSITION', says);
  }
  if (onRecord === undefined || onRecord === given) return;
  const says = `Notice ${noticeId} was queued under another receipt. Give the one on record, see mesh show.`;
  throw new MeshError('RECEIPT_CONFLICT', says);
}
