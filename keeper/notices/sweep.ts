import { createHash } from 'node:crypto';
import { reasonOf } from '../../fabric/domain/errors.ts';
import type { Author } from '../../fabric/domain/events.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import { noticeIdFor } from '../../fabric/domain/notice.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { Receipt, TaskState } from '../../fabric/domain/state.ts';
import { transition } from '../../fabric/domain/transition.ts';
import type { AvailabilityProbe } from '../../fabric/ports/availability.ts';
import type { Delivery, Notice, Notifier } from '../../fabric/ports/notifier.ts';
import { change, eventOf } from '../../fabric/queue/change.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { inboxOf } from '../../fabric/queue/inbox.ts';
import type { DigestMarks } from './digest-marks.ts';
import { planNotices, type NoticePlan } from './plan.ts';
import { digestWords, questionWords, type Reader } from './words.ts';

/** A person who hears of what waits for them, and how. */
export interface Recipient {
  readonly person: string;
  readonly notifier: Notifier;
  /** The local day whose digest has come due; undefined before its hour, and always where none is wanted. */
  readonly digestDayAt: (nowMs: number) => string | undefined;
}

export interface NoticeOptions {
  readonly recipients: readonly Recipient[];
  readonly availability: AvailabilityProbe;
  readonly marks: DigestMarks;
  /** The inbox page; undefined where this process knows of none. */
  readonly inboxUrl: () => string | undefined;
  /** Of each notice what became of it, for the metrics. */
  readonly onNotice: (kind: Notice['kind'], outcome: Delivery['outcome']) => void;
}

interface Sweep extends NoticeOptions {
  readonly deps: QueueDeps;
  readonly by: Author;
  /** A notice that is under way ends by itself; none begins after this. */
  readonly signal: AbortSignal;
}

/**
 * Tells one person what is due now. Each notice of a question is prepared and marked as being sent in the
 * task's log before anything leaves, so that of several keepers one sends it, and after a crash none does.
 * Returns how many it sent.
 */
export async function sweepNotices(sweep: Sweep, recipient: Recipient): Promise<number> {
  const { deps, availability, marks, signal } = sweep;
  const { person } = recipient;
  const isPerson = deps.directory.agent(person)?.trust === 'human';
  const { a } = availability.at(person);
  if (!isPerson || a === 0) return 0;
  const nowMs = deps.clock.nowMs();
  const items = await inboxOf(deps, readerOf(person));
  const day = recipient.digestDayAt(nowMs);
  const last = day === undefined ? undefined : await marks.last(person, day);
  const digest = day === undefined ? {} : { digest: { day, ...(last && { last }) } };
  const plan = planNotices({ person, availability: { a }, items, ...digest }, nowMs);
  let sent = 0;
  for (const { state, noticeId } of plan.lost) await giveUp(sweep, state, noticeId);
  for (const due of plan.urgent) {
    if (signal.aborted) return sent;
    if (await tellUrgent(sweep, recipient, due)) sent += 1;
  }
  if (plan.digest && !signal.aborted && (await tellDigest(sweep, recipient, plan.digest)))
    sent += 1;
  return sent;
}

/** What a person may see and settle for themselves: no right that reaches into another one's tasks. */
const readerOf = (person: string): Principal => ({
  ...{ id: PrincipalId.parse(person), role: 'human', trust: 'human' },
  scopes: new Set(['tasks:read', 'tasks:answer', 'tasks:verify']),
});

async function tellUrgent(
  sweep: Sweep,
  recipient: Recipient,
  { state, n }: NoticePlan['urgent'][number],
): Promise<boolean> {
  const { question, taskId } = state;
  if (question === undefined) return false;
  const { person } = recipient;
  const { decisionId } = question;
  const noticeId = noticeIdFor(decisionId, person, n);
  // Of what is asked, not of the words around it: another release may put those differently.
  const digest = createHash('sha256').update(`${noticeId}|${question.text}`).digest('hex');
  const isOpen = (now: TaskState) => now.question?.decisionId === decisionId;
  const begin = async (from: Receipt['status'] | undefined, status: Receipt['status']) => {
    let isOurs = false;
    await change(sweep.deps, taskId, ({ state: now }) => {
      isOurs = isOpen(now) && now.receipts[noticeId]?.status === from;
      const body = { key: noticeId, status, digest };
      return isOurs ? eventOf(sweep.deps, sweep.by, 'receipted', body) : undefined;
    });
    return isOurs;
  };
  await begin(undefined, 'prepared');
  if (!(await begin('prepared', 'sending'))) return false;
  const kind = n === 1 ? ('urgent' as const) : ('reminder' as const);
  const words = questionWords(state, reader(sweep, person), n);
  const notice = { noticeId, kind, person, ...words, decisionId, taskId };
  const delivery = await deliver(sweep, recipient, notice);
  await record(sweep, taskId, { key: noticeId, digest, ...receiptFields(delivery) });
  return true;
}

const reader = ({ inboxUrl }: Sweep, person: string): Reader => ({ person, inboxUrl: inboxUrl() });

async function tellDigest(
  sweep: Sweep,
  recipient: Recipient,
  { day, n, items, told }: NonNullable<NoticePlan['digest']>,
): Promise<boolean> {
  const { marks, deps } = sweep;
  const { person } = recipient;
  const words = digestWords(items, told, reader(sweep, person));
  const mark = (status: Receipt['status']) => ({ n, status, atMs: deps.clock.nowMs() });
  // With nothing to tell the day is over, too: what comes in later waits for tomorrow's.
  if (!(await marks.claim(person, day, mark(words ? 'sending' : 'published')))) return false;
  if (words === undefined) return false;
  const noticeId = `digest:${person}:${day}:${n}`;
  const delivery = await deliver(sweep, recipient, { noticeId, kind: 'digest', person, ...words });
  await marks.settle(person, day, mark(receiptFields(delivery).status));
  return true;
}

async function deliver(
  { deps, onNotice }: Sweep,
  { notifier, person }: Recipient,
  notice: Notice,
): Promise<Delivery> {
  const delivery = await notifier
    .send(notice)
    .catch((error: unknown) => ({ outcome: 'unknown' as const, reason: reasonOf(error) }));
  const { kind, taskId } = notice;
  onNotice(kind, delivery.outcome);
  const about = { agent: person, taskId, kind, transport: notifier.transport };
  if ('reason' in delivery) {
    deps.log.warn(`notice.${delivery.outcome}`, { ...about, reason: delivery.reason });
  } else deps.log.info(`notice.${delivery.outcome}`, about);
  return delivery;
}

interface ReceiptFields {
  readonly status: Receipt['status'];
  readonly receiptId?: string;
  readonly queueReceiptId?: string;
}

function receiptFields(delivery: Delivery): ReceiptFields {
  switch (delivery.outcome) {
    case 'delivered':
      return { status: 'published', receiptId: delivery.receiptId };
    case 'queued':
      return { status: 'published', queueReceiptId: delivery.receiptId };
    case 'failed':
    case 'unknown':
      return { status: delivery.outcome };
  }
}

/** Puts a result on record; proof that came meanwhile stays, and one that contradicts it is told. */
async function record(
  { deps, by }: Sweep,
  taskId: TaskState['taskId'],
  body: ReceiptFields & { readonly key: string; readonly digest: string },
): Promise<void> {
  await change(deps, taskId, ({ state }) => {
    const event = eventOf(deps, by, 'receipted', body);
    const next = transition(state, event);
    if (next.ok) return event;
    deps.log.warn('notice.conflict', { taskId, key: body.key, reason: next.reason });
    return undefined;
  });
}

/** The process that was sending it is gone: nobody knows whether it went out, and it is not sent again. */
async function giveUp(sweep: Sweep, state: TaskState, noticeId: string): Promise<void> {
  const digest = state.receipts[noticeId]?.digest ?? '';
  await record(sweep, state.taskId, { key: noticeId, digest, status: 'unknown' });
  sweep.deps.log.warn('notice.held', { taskId: state.taskId, key: noticeId });
}
