import { z } from 'zod';
import { ReceiptId } from '../../fabric/domain/ids.ts';
import type { Delivery, Notice } from '../../fabric/ports/notifier.ts';

/** What a program or a receiver reads: one JSON object, its keys written as in a runner's packet. */
export function noticePacket(notice: Notice, address: string | undefined): string {
  return JSON.stringify({
    version: 1,
    notice_id: notice.noticeId,
    kind: notice.kind,
    person: notice.person,
    ...(address === undefined ? {} : { address }),
    subject: notice.subject,
    text: notice.text,
    ...(notice.decisionId === undefined ? {} : { decision_id: notice.decisionId }),
    ...(notice.taskId === undefined ? {} : { task_id: notice.taskId }),
  });
}

const Answer = z.object({
  notice_id: z.string(),
  receipt_id: ReceiptId,
  delivery_state: z.enum(['queued', 'delivered']).default('delivered'),
});

/** What an answer proves: nothing, unless it names this notice and a receipt of its own. */
export function deliveryProvenBy(answer: string, { noticeId }: Notice): Delivery {
  const parsed = Answer.safeParse(jsonOf(answer));
  if (!parsed.success) {
    return { outcome: 'unknown', reason: 'its answer names no notice_id and receipt_id' };
  }
  const { notice_id, receipt_id, delivery_state } = parsed.data;
  if (notice_id !== noticeId) {
    return { outcome: 'unknown', reason: 'its answer is about another notice' };
  }
  return { outcome: delivery_state, receiptId: receipt_id };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
