import type { Delivery, Notice, Notifier } from '../../fabric/ports/notifier.ts';

export interface RecordingNotifier extends Notifier {
  readonly notices: Notice[];
  /** How the next ones end; by default each is delivered with a receipt of its own. */
  answer: (notice: Notice) => Delivery | Promise<Delivery>;
}

/** A way to a person that keeps what it was given. */
export function recordingNotifier(): RecordingNotifier {
  const notices: Notice[] = [];
  const notifier: RecordingNotifier = {
    ...{ transport: 'command', notices },
    answer: () => ({ outcome: 'delivered', receiptId: `receipt-${notices.length}` }),
    async send(notice) {
      notices.push(notice);
      return notifier.answer(notice);
    },
  };
  return notifier;
}
