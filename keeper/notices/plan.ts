import { limits } from '../../fabric/domain/limits.ts';
import { lastNotice } from '../../fabric/domain/notice.ts';
import type { Receipt, TaskState } from '../../fabric/domain/state.ts';
import type { Availability } from '../../fabric/ports/availability.ts';
import type { InboxItem } from '../../fabric/queue/inbox.ts';

/** How the newest of a series of notices stands: of one question's, or of one day's digests. */
export interface Sent {
  readonly n: number;
  readonly status: Receipt['status'];
  readonly atMs: number;
}

/** One person, as of now. */
export interface Situation {
  readonly person: string;
  readonly availability: Pick<Availability, 'a'>;
  /** All that waits for this person and nobody else's. */
  readonly items: readonly InboxItem[];
  /** The day whose digest has come due; absent: its hour has not struck, or none is wanted. */
  readonly digest?: { readonly day: string; readonly last?: Sent };
}

export interface NoticePlan {
  readonly urgent: readonly { readonly state: TaskState; readonly n: number }[];
  /** Whose sender has surely ended without a word about them. */
  readonly lost: readonly { readonly state: TaskState; readonly noticeId: string }[];
  readonly digest?: {
    readonly day: string;
    readonly n: number;
    readonly items: readonly InboxItem[];
    /** Urgent questions that are still open and were spoken of by themselves. */
    readonly told: number;
  };
}

/**
 * What goes out to a person now. Nothing while they are away: it waits, and nothing is decided meanwhile.
 * Urgent questions and gates go out at once and again each day, the rest in one digest a day. What may have
 * gone out is not sent a second time; what surely did not is tried again, later each time.
 */
export function planNotices(situation: Situation, nowMs: number): NoticePlan {
  const { person, availability, items, digest } = situation;
  if (availability.a === 0) return { urgent: [], lost: [] };
  const own = items.filter((item) => goesOutAlone(item, person));
  const urgent = own.flatMap(({ state }) => {
    const n = nextOf(lastOf(state, person), nowMs, limits.remindMs);
    return n === undefined ? [] : [{ state, n }];
  });
  const lost = own.flatMap(({ state }) => {
    const last = lastNotice(state, person);
    return last && isLost(last.receipt, nowMs) ? [{ state, noticeId: last.noticeId }] : [];
  });
  const n = digest && nextOf(digest.last, nowMs);
  if (digest === undefined || n === undefined) return { urgent, lost };
  const rest = items.filter((item) => !own.includes(item));
  return { urgent, lost, digest: { day: digest.day, n, items: rest, told: own.length } };
}

export const isUrgent = ({ question }: TaskState): boolean =>
  question !== undefined && (question.urgent === true || question.kind === 'gate');

/** What is spoken of by itself: it still has notices left, and its log has room for their receipts. */
export function goesOutAlone({ kind, state }: InboxItem, person: string): boolean {
  if (kind !== 'question' || !isUrgent(state)) return false;
  const last = lastOf(state, person);
  const isLastOpen = last?.status === 'prepared' || last?.status === 'sending';
  if (isLastOpen) return true;
  const hasRoom = state.version + eventsOfNotice <= limits.noticesToVersion;
  return hasRoom && (last?.n ?? 0) < limits.noticesPerQuestion;
}

/** Far past a transport's whole time. */
const lostMs = 5 * 60_000;

const isLost = ({ status, atMs }: Receipt, nowMs: number): boolean =>
  status === 'sending' && nowMs >= atMs + lostMs;

/** Prepared, sending, and how it ended. */
const eventsOfNotice = 3;

function lastOf(state: TaskState, person: string): Sent | undefined {
  const last = lastNotice(state, person);
  return last && { n: last.n, ...last.receipt };
}

/** The number of the notice to be sent now, if any; `againAfterMs`: how long one that is out is enough. */
function nextOf(
  last: Sent | undefined,
  nowMs: number,
  againAfterMs = Infinity,
): number | undefined {
  if (last === undefined) return 1;
  const { n, status, atMs } = last;
  if (status === 'prepared') return n;
  const waitMs = status === 'failed' ? pauseMs(n) : againAfterMs;
  return n < limits.noticesPerQuestion && nowMs >= atMs + waitMs ? n + 1 : undefined;
}

const minuteMs = 60_000;

/** After a failure: a minute, then twice as long each time, a day at most. */
const pauseMs = (n: number): number => Math.min(minuteMs * 2 ** (n - 1), limits.remindMs);
