import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { lastNotice } from '../../fabric/domain/notice.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import type { Availability } from '../../fabric/ports/availability.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { startKeeper } from '../../keeper/keeper.ts';
import { fileDigestMarks } from '../../keeper/notices/digest-marks.ts';
import { sweepNotices } from '../../keeper/notices/sweep.ts';
import {
  appendAll,
  askedBy,
  claimedBy,
  keeper,
  questionTo,
  submitted,
} from '../support/board-builders.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { recordingLog } from '../support/recording-log.ts';
import { recordingNotifier } from '../support/recording-notifier.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dayMs = 24 * 60 * 60_000;

/** alvis and bob, each with a way to hear of things, over a board. */
async function house(change: Partial<QueueDeps> = {}) {
  const mesh = queueMesh(
    { id: 'alvis', runtime: 'human', trust: 'human' },
    { id: 'bob', runtime: 'human', trust: 'human' },
  );
  const deps = { ...mesh.deps, ...change };
  const notifier = recordingNotifier();
  const folder = join(await temporaryFolder(), 'digests');
  const outcomes: string[] = [];
  const standing: { available: Availability; day: string | undefined; signal: AbortSignal } = {
    ...{ available: { a: 1, reasons: [] }, day: undefined },
    signal: new AbortController().signal,
  };
  const recipientOf = (id: string) => ({
    ...{ person: id, notifier, digestDayAt: () => standing.day },
  });
  const options = {
    availability: { at: () => standing.available },
    marks: fileDigestMarks(folder),
    inboxUrl: () => 'https://mesh.example.org/inbox',
    onNotice: (kind: string, outcome: string) => outcomes.push(`${kind} ${outcome}`),
  };
  const sweep = (id = 'alvis') => {
    const { signal } = standing;
    const recipients = [recipientOf(id)];
    return sweepNotices({ ...options, recipients, deps, by: keeper, signal }, recipientOf(id));
  };
  const ask = (question: Partial<Question>, to = 'alvis') => asked(deps.board, question, to);
  const stateOf = async (uid: TaskId) => (await deps.board.read(uid))!.state;
  return { ...mesh, deps, notifier, standing, outcomes, options, recipientOf, sweep, ask, stateOf };
}

async function asked(board: TaskBoard, question: Partial<Question>, to: string): Promise<TaskId> {
  const uid = await submitted(board, { title: 'Deploy', submitter: to, responsible: to });
  const open = { question: questionTo([to], question) };
  await appendAll(board, uid, [
    claimedBy('adolf', { attempt: 1 }),
    askedBy('adolf', 2, [to], open),
  ]);
  return uid;
}

const gate: Partial<Question> = {
  ...{ kind: 'gate', text: 'Tonight?', options: ['approve', 'reject'] },
};

describe('an urgent question', () => {
  it('is told once, with what it takes to answer, and its receipt is in the log', async () => {
    const { sweep, ask, notifier, stateOf, outcomes } = await house();
    const uid = await ask(gate);
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    const [notice] = notifier.notices;
    expect(notifier.notices).toHaveLength(1);
    expect(notice).toMatchObject({
      ...{ kind: 'urgent', person: 'alvis', subject: 'adolf asks: Deploy', taskId: uid },
      decisionId: 'd-0123456789abcdef',
    });
    expect(notice?.text).toContain('adolf asks: Tonight?');
    expect(notice?.text).toContain(`mesh answer ${uid.slice(0, 8)} approve|reject`);
    expect(notice?.text).toContain(`https://mesh.example.org/inbox/tasks/${uid}`);
    const { receipt } = lastNotice(await stateOf(uid), 'alvis')!;
    expect(receipt).toMatchObject({ status: 'published', receiptId: 'receipt-1' });
    expect(outcomes).toEqual(['urgent delivered']);
  });

  it('is told by one of two keepers that see it at the same time', async () => {
    const { sweep, ask, notifier } = await house();
    await ask(gate);
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(notifier.notices).toHaveLength(1);
  });

  it('is on record as being sent before anything leaves', async () => {
    const { sweep, ask, notifier, stateOf } = await house();
    const uid = await ask(gate);
    let then: string | undefined;
    notifier.answer = async () => {
      then = lastNotice(await stateOf(uid), 'alvis')?.receipt.status;
      return { outcome: 'queued', receiptId: 'queue-1' };
    };
    await sweep();
    expect(then).toBe('sending');
    const { receipt } = lastNotice(await stateOf(uid), 'alvis')!;
    expect(receipt).toMatchObject({ status: 'published', queueReceiptId: 'queue-1' });
    expect(receipt.receiptId).toBeUndefined();
  });

  it('stays open however long it is ignored, and is spoken of again each day', async () => {
    const { sweep, ask, notifier, stateOf, clock } = await house();
    const uid = await ask(gate);
    for (let day = 0; day < 20; day++) {
      await sweep();
      await clock.advance(dayMs);
    }
    expect(notifier.notices).toHaveLength(limits.noticesPerQuestion);
    expect(notifier.notices.map(({ kind }) => kind).slice(0, 2)).toEqual(['urgent', 'reminder']);
    expect(notifier.notices[1]?.subject).toBe('Still open: Deploy');
    expect(await stateOf(uid)).toMatchObject({ phase: 'input-required', decisions: [] });
  });

  it('is not spoken of any more once it is answered', async () => {
    const { sweep, ask, notifier, clock, deps } = await house();
    const uid = await ask(gate);
    await sweep();
    const decisionId = notifier.notices[0]!.decisionId!;
    await answerQuestion(deps, { principal: person('alvis'), uid, decisionId, value: 'approve' });
    await clock.advance(dayMs);
    expect(await sweep()).toBe(0);
  });

  it('waits out the night and a vacation, and goes out when they end', async () => {
    const { sweep, ask, standing, notifier } = await house();
    await ask(gate);
    standing.available = { a: 0, reasons: ['on vacation'] };
    standing.day = '2026-11-30';
    expect(await sweep()).toBe(0);
    standing.available = { a: 1, reasons: [] };
    expect(await sweep()).toBe(1);
    expect(notifier.notices).toHaveLength(1);
  });

  it('is told to nobody but whom it waits for', async () => {
    const { sweep, ask, notifier, standing } = await house();
    await ask({ ...gate, text: 'The code is 4711.' }, 'bob');
    await ask({ text: 'Mine?' });
    standing.day = '2026-11-30';
    await sweep('alvis');
    expect(JSON.stringify(notifier.notices)).not.toContain('4711');
    expect(notifier.notices).toHaveLength(1);
  });

  it('is tried again where the first try surely failed, and held where nobody knows', async () => {
    const { sweep, ask, notifier, clock, stateOf, deps } = await house();
    const uid = await ask(gate);
    notifier.answer = () => ({ outcome: 'failed', reason: 'no route' });
    await sweep();
    notifier.answer = () => Promise.reject(new Error('cut off'));
    await clock.advance(60_000);
    await sweep();
    expect(lastNotice(await stateOf(uid), 'alvis')).toMatchObject({
      ...{ n: 2, receipt: { status: 'unknown' } },
    });
    await clock.advance(60 * 60_000);
    expect(await sweep()).toBe(0);
    const { lines } = deps.log as ReturnType<typeof recordingLog>;
    const told = lines.map(({ event }) => event).filter((event) => event.startsWith('notice.'));
    expect(told).toEqual(['notice.failed', 'notice.unknown']);
  });
});

describe('a keeper that died while it sent', () => {
  it('leaves a notice that the next one holds and does not send again', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const first = await house();
    const opened = () => openEmbeddedBoard({ path, clock: first.clock, log: recordingLog() });
    const board = await opened();
    const dying = await house({ board, clock: first.clock });
    const uid = await dying.ask(gate);
    // It goes out, and then neither the answer nor the process is there any more.
    dying.notifier.answer = () => new Promise(() => undefined);
    void dying.sweep();
    await vi.waitFor(() => expect(dying.notifier.notices).toHaveLength(1), { timeout: 15_000 });
    await board.close();
    const again = await opened();
    onTestFinished(() => again.close());
    // Another process draws other tokens; the same ones would be the same act.
    const random = seededRandom(8);
    const next = await house({ board: again, clock: first.clock, random });
    expect(await next.sweep()).toBe(0);
    expect(lastNotice(await next.stateOf(uid), 'alvis')?.receipt.status).toBe('sending');
    await first.clock.advance(10 * 60_000);
    expect(await next.sweep()).toBe(0);
    expect(lastNotice(await next.stateOf(uid), 'alvis')?.receipt.status).toBe('unknown');
    expect(next.notifier.notices).toEqual([]);
  });
});

describe('the daily digest', () => {
  it('says all the rest once a day, also after a restart', async () => {
    const { sweep, ask, notifier, standing, options } = await house();
    const uid = await ask({ text: 'Red or blue?', options: ['red', 'blue'] });
    await ask(gate);
    expect(await sweep()).toBe(1);
    standing.day = '2026-11-30';
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    const digest = notifier.notices.at(-1)!;
    expect(digest).toMatchObject({ kind: 'digest', subject: '1 thing waits for you' });
    expect(digest.text.replaceAll(uid.slice(0, 8), '1a2b3c4d')).toMatchInlineSnapshot(`
      "1 thing waits for you.

      1. Deploy
         adolf asks: Red or blue?
         Say red or blue; adolf goes on by your word.
         mesh answer 1a2b3c4d red|blue

      Beside these, 1 urgent question of which you were told still waits.

      All of it: mesh inbox, or in a browser https://mesh.example.org/inbox (mesh inbox --web prints a link that logs you in)."
    `);
    expect(await options.marks.last('alvis', '2026-11-30')).toMatchObject({ status: 'published' });
    standing.day = '2026-12-01';
    expect(await sweep()).toBe(1);
  });

  it('is not sent for nothing, nor later that day for what came in since', async () => {
    const { sweep, ask, standing, notifier } = await house();
    standing.day = '2026-11-30';
    expect(await sweep()).toBe(0);
    await ask({ text: 'Red or blue?' });
    expect(await sweep()).toBe(0);
    standing.day = '2026-12-01';
    expect(await sweep()).toBe(1);
    expect(notifier.notices).toHaveLength(1);
  });

  it('is sent by one of several processes of a host', async () => {
    const { sweep, ask, standing, notifier } = await house();
    standing.day = '2026-11-30';
    await ask({ text: 'Red or blue?' });
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(notifier.notices).toHaveLength(1);
  });
});

it('runs in the keeper, a loop a person, and ends with it', async () => {
  const { ask, notifier, options, recipientOf, deps, clock } = await house();
  const liveness = { isDead: () => Promise.resolve(false) };
  const notices = { ...options, recipients: [recipientOf('alvis'), recipientOf('bob')] };
  const running = startKeeper(deps, { liveness, notices });
  await ask(gate);
  await clock.advance(limits.pollMs);
  await vi.waitFor(() => expect(notifier.notices).toHaveLength(1), { timeout: 15_000 });
  await running.stop();
});
