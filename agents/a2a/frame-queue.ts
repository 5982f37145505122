import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { EventId } from './event-id.ts';
import type { StreamFrame } from './stream-frame.ts';

/** A frame on its way to a subscriber. */
export interface Delivery {
  readonly id: EventId;
  readonly frame: StreamFrame;
  /** The task as it was at this frame; for chunks, as it is now. */
  readonly state: TaskState;
  /** Resolves when it may be shown. */
  readonly committed?: Promise<void>;
}

/**
 * What one subscriber has not taken yet, in order. One that is too slow is cut off at
 * `limits.slowReaderBytes`: it can subscribe again from the last id it has.
 */
export class FrameQueue {
  readonly #waiting: Delivery[] = [];
  #bytes = 0;
  #isOpen = true;
  #wake: (() => void) | undefined;

  /** False when the subscriber was cut off by it. */
  push(delivery: Delivery): boolean {
    if (!this.#isOpen) return false;
    this.#bytes += sizeOf(delivery);
    if (this.#bytes > limits.slowReaderBytes) {
      this.#waiting.length = 0;
      this.end();
      return false;
    }
    this.#waiting.push(delivery);
    this.#wake?.();
    return true;
  }

  /** What waits is still handed out. */
  end(): void {
    this.#isOpen = false;
    this.#wake?.();
  }

  /** The next frame once there is one; undefined after the end. */
  async next(): Promise<Delivery | undefined> {
    while (this.#waiting.length === 0 && this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const delivery = this.#waiting.shift();
    if (delivery) this.#bytes -= sizeOf(delivery);
    return delivery;
  }
}

/** Bytes of an event around its text, about. */
const envelopeBytes = 600;

function sizeOf({ frame, state }: Delivery): number {
  if (frame.kind === 'chunk' || frame.kind === 'progress') {
    return envelopeBytes + Buffer.byteLength(frame.text);
  }
  if (frame.kind === 'state') return envelopeBytes;
  const artifact = state.outcome?.artifacts[frame.index];
  return envelopeBytes + Buffer.byteLength(artifact?.text ?? '');
}
