import { fold } from '../../fabric/domain/fold.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Journal, JournalFrame } from '../../fabric/ports/journal.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import type { EventId } from './event-id.ts';
import type { Delivery } from './frame-queue.ts';
import { StreamFrame } from './stream-frame.ts';

/**
 * The frames after `after`, up to where the subscriber was attached; undefined when `after` was never
 * committed, so that nobody can say what followed it (`DESIGN.md` 6.1).
 * @param attached where the live frames of this incarnation go on
 */
export async function resumedFrames(
  { board, journal }: { readonly board: Pick<TaskBoard, 'read'>; readonly journal: Journal },
  uid: TaskId,
  after: EventId,
  attached: EventId,
): Promise<readonly Delivery[] | undefined> {
  const isLive = after.incarnation === attached.incarnation;
  if (isLive && after.sequence === attached.sequence) return [];
  if (isLive && after.sequence > attached.sequence) return undefined;
  const from = Math.max(0, after.sequence - 1);
  const kept = await journal.read(uid, after.incarnation, from);
  const last = isLive ? attached.sequence : Number.MAX_SAFE_INTEGER;
  const missed = kept.filter(({ sequence }) => sequence > after.sequence && sequence <= last);
  if (!isProven(kept, after, missed)) return undefined;
  if (isLive && missed.at(-1)?.sequence !== attached.sequence) return undefined;
  return drawnFrom(missed, (await board.read(uid))?.events ?? []);
}

/** The event itself is in the journal, or the one right after it; and nothing is missing in between. */
function isProven(
  kept: readonly JournalFrame[],
  after: EventId,
  missed: readonly JournalFrame[],
): boolean {
  const isKnown = kept[0]?.sequence === after.sequence || kept[0]?.sequence === after.sequence + 1;
  return isKnown && missed.every(({ sequence }, at) => sequence === after.sequence + 1 + at);
}

/** Frames name states by version; the log has them all. */
function drawnFrom(
  frames: readonly JournalFrame[],
  events: NonNullable<Awaited<ReturnType<TaskBoard['read']>>>['events'],
): Delivery[] {
  let state: TaskState | undefined = fold(events.slice(0, 1));
  const deliveries: Delivery[] = [];
  for (const { sequence, incarnation, frame: stored } of frames) {
    const frame = StreamFrame.parse(stored);
    if ('version' in frame && state && frame.version > state.version) {
      state = fold(events.slice(state.version, frame.version), state);
    }
    if (state) deliveries.push({ id: { incarnation, sequence }, frame, state });
  }
  return deliveries;
}
