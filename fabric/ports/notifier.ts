import type { DecisionId, TaskId } from '../domain/ids.ts';

/** Word for one person of what waits for them. */
export interface Notice {
  /** Names it for good: whoever gets the same id twice may drop one. Printable ASCII, no blanks. */
  readonly noticeId: string;
  readonly kind: 'urgent' | 'reminder' | 'digest';
  readonly person: string;
  /** One line. */
  readonly subject: string;
  /** Plain text with everything a person needs to settle it. */
  readonly text: string;
  /** The open question; absent in a digest. */
  readonly decisionId?: DecisionId;
  readonly taskId?: TaskId;
}

/**
 * What became of it. `delivered`: there is proof. `queued`: somebody took it over, to bring it later. `failed`:
 * it surely went nowhere and may be sent anew, as another notice. `unknown`: nobody can say; the same one is
 * never sent again.
 */
export type Delivery =
  | { readonly outcome: 'delivered' | 'queued'; readonly receiptId: string }
  | { readonly outcome: 'failed' | 'unknown'; readonly reason: string };

/** A way to one person. */
export interface Notifier {
  readonly transport: 'command' | 'webhook' | 'mail';
  /** One attempt, over within `limits.noticeMs` and a grace. Rejects only for a bug of ours. */
  send(notice: Notice): Promise<Delivery>;
}
