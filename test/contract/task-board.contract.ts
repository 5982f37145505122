import { afterEach, describe, expect, it } from 'vitest';
import type { A2aState } from '../../fabric/domain/a2a-state.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { ContextId, QueueId, TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';
import type { TaskBoard, TaskQuery } from '../../fabric/ports/task-board.ts';
import {
  appendAll,
  askedBy,
  builtAtMs,
  claimedBy,
  failedBy,
  newTaskId,
  notedBy,
  releasedBy,
  settledBy,
  startedBy,
  submitted,
  submittedEvent,
  verifiedBy,
} from '../support/board-builders.ts';

/** A board to test, over a store that no other test uses. */
export interface BoardUnderTest {
  readonly board: TaskBoard;
  /** Ends this process's part and opens the same store anew, without any memory of it. */
  readonly reopen: () => Promise<TaskBoard>;
  /** Ends what `open` and `reopen` started. */
  readonly dispose: () => Promise<void>;
}

const queueOf = (name: string) => QueueId.parse(name);
const ids = (states: readonly TaskState[]): TaskId[] => states.map(({ taskId }) => taskId);
const sorted = (uids: readonly string[]): string[] => [...uids].sort();

/**
 * What every TaskBoard promises (`fabric/ports/task-board.ts`). An adapter's test file calls this with a
 * way to open a fresh one.
 */
export function describeTaskBoard(name: string, open: () => Promise<BoardUnderTest>): void {
  const opened: BoardUnderTest[] = [];
  const fresh = async (): Promise<BoardUnderTest> => {
    const one = await open();
    opened.push(one);
    return one;
  };

  describe(`TaskBoard: ${name}`, () => {
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.dispose();
    });
    describeSlots(fresh);
    describeLogs(fresh);
    describeQueues(fresh);
    describeFinding(fresh);
    describeLiveness(fresh);
  });
}

type Fresh = () => Promise<BoardUnderTest>;

function describeSlots(fresh: Fresh): void {
  it('lets one of sixteen rivals write a slot', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    const rivals = Array.from({ length: 16 }, (_, n) =>
      board.append(uid, 2, claimedBy(`worker-${n}`)),
    );
    const answers = await Promise.all(rivals);
    expect(answers.filter((answer) => answer === 'appended')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'conflict')).toHaveLength(15);
    const log = await board.read(uid);
    expect(log?.events).toHaveLength(2);
    expect(log?.state.claim?.holder).toBe(`worker-${answers.indexOf('appended')}`);
  });

  it('lets one of sixteen rivals submit a task', async () => {
    const { board } = await fresh();
    const taskId = newTaskId();
    const rivals = Array.from({ length: 16 }, (_, n) =>
      board.append(taskId, 1, submittedEvent({ taskId, title: `Number ${n}` })),
    );
    const answers = await Promise.all(rivals);
    expect(answers.filter((answer) => answer === 'appended')).toHaveLength(1);
    const log = await board.read(taskId);
    expect(log?.state.task.intent.title).toBe(`Number ${answers.indexOf('appended')}`);
  });

  it('says appended to the repeat of an event in its own slot, also after later ones', async () => {
    const { board } = await fresh();
    const submit = submittedEvent();
    const { taskId } = submit.task;
    const claim = claimedBy('adolf');
    expect(await board.append(taskId, 1, submit)).toBe('appended');
    expect(await board.append(taskId, 1, submit)).toBe('appended');
    expect(await board.append(taskId, 2, claim)).toBe('appended');
    expect(await board.append(taskId, 1, structuredClone(submit))).toBe('appended');
    expect(await board.append(taskId, 2, claim)).toBe('appended');
    expect((await board.read(taskId))?.events).toHaveLength(2);
  });

  it('says conflict to another event in a taken slot', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    await appendAll(board, uid, [claimedBy('adolf')]);
    expect(await board.append(uid, 1, submittedEvent({ taskId: uid }))).toBe('conflict');
    expect(await board.append(uid, 2, claimedBy('berta'))).toBe('conflict');
  });

  it('leaves no gap: a version past the next one is a conflict', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    expect(await board.append(uid, 3, claimedBy('adolf'))).toBe('conflict');
    expect(await board.append(newTaskId(), 2, claimedBy('adolf'))).toBe('conflict');
    expect((await board.read(uid))?.events).toHaveLength(1);
  });
}

function describeLogs(fresh: Fresh): void {
  it('knows nothing of a task that was never submitted', async () => {
    const { board } = await fresh();
    expect(await board.read(newTaskId())).toBeUndefined();
    expect(await board.resolve(newTaskId())).toBeUndefined();
    await board.beat(newTaskId(), 1);
  });

  it('gives back what was appended, in order, with its fold', async () => {
    const { board } = await fresh();
    const submit = submittedEvent();
    const { taskId } = submit.task;
    const rest = [claimedBy('adolf'), startedBy('adolf', 2), settledBy('adolf', 2)];
    await appendAll(board, taskId, [submit, ...rest, verifiedBy('alvis')]);
    const log = await board.read(taskId);
    expect(log?.uid).toBe(taskId);
    expect(log?.events.slice(0, 4)).toEqual([submit, ...rest]);
    expect(log?.state).toMatchObject({ version: 5, phase: 'verified', attempts: 1 });
  });

  it('shows a buffered event to every read of its process at once', async () => {
    const { board } = await fresh();
    const submit = submittedEvent();
    const { taskId } = submit.task;
    expect(await board.append(taskId, 1, submit, 'buffered')).toBe('appended');
    expect((await board.read(taskId))?.state.phase).toBe('ready');
    expect(await board.list(submit.task.queue, builtAtMs, 5)).toEqual([taskId]);
    await board.append(taskId, 2, claimedBy('adolf'), 'buffered');
    expect(await board.list(submit.task.queue, builtAtMs, 5)).toEqual([]);
    const page = await board.find({ leasesOnly: true, limit: 5 });
    expect(ids(page.states)).toEqual([taskId]);
  });

  it('keeps large, foreign and broken text as it was', async () => {
    const { board, reopen } = await fresh();
    const text = 'ä€😀\u0000\n'.repeat(1_000).slice(0, limits.inlineBytes / 4);
    const odd = 'half a pair: \ud83d, "quotes" \\ \u2028';
    const uid = await submitted(board, { title: odd, body: 'x'.repeat(64 * 1024) });
    const note = notedBy('alvis', text);
    await appendAll(board, uid, [note]);
    const again = await reopen();
    const log = await again.read(uid);
    expect(log?.state.task.intent).toEqual({ title: odd, body: 'x'.repeat(64 * 1024) });
    expect(log?.events[1]).toEqual(note);
  });

  it('holds a log of many versions', async () => {
    const { board, reopen } = await fresh();
    const uid = await submitted(board);
    const notes = Array.from({ length: 460 }, (_, n) => notedBy('alvis', `note ${n}`));
    let version = 1;
    for (const note of notes) {
      version += 1;
      expect(await board.append(uid, version, note, 'buffered')).toBe('appended');
    }
    await board.flush();
    const log = await (await reopen()).read(uid);
    expect(log?.events).toHaveLength(461);
    expect(log?.events.at(-1)).toEqual(notes.at(-1));
    expect(log?.state.notes).toHaveLength(460);
  });

  it('has everything it acknowledged when it is opened anew', async () => {
    const { board, reopen } = await fresh();
    const uids = await Promise.all(Array.from({ length: 40 }, () => submitted(board)));
    await Promise.all(uids.map((uid) => appendAll(board, uid, [claimedBy('adolf')])));
    await board.append(uids[0]!, 3, startedBy('adolf', 2), 'buffered');
    await board.flush();
    const again = await reopen();
    for (const uid of uids.slice(1)) {
      expect((await again.read(uid))?.state).toMatchObject({ phase: 'claimed', version: 2 });
    }
    expect((await again.read(uids[0]!))?.state.phase).toBe('working');
    expect(await again.append(uids[1]!, 2, claimedBy('berta'))).toBe('conflict');
    expect((await again.find({ leasesOnly: true, limit: 100 })).total).toBe(40);
  });
}

function describeQueues(fresh: Fresh): void {
  it('lists a queue in the order of taking', async () => {
    const { board } = await fresh();
    const at = (n: number) => ({ atMs: builtAtMs + n });
    const put = (priority: 0 | 1 | 2 | 3, n: number) =>
      submitted(board, { definition: { priority } }, at(n));
    const three = await put(3, 1);
    const zero = await put(0, 2);
    const two = await put(2, 4);
    const elderTwo = await put(2, 3);
    const one = await put(1, 5);
    const own = await put(3, 6);
    await appendAll(board, own, [
      claimedBy('adolf', { attempt: 1, ...at(7) }),
      failedBy('adolf', 2, at(8)),
    ]);
    const order = [one, own, elderTwo, two, zero, three];
    expect(await board.list(queueOf('adolf'), builtAtMs + 10, 10)).toEqual(order);
    expect(await board.list(queueOf('adolf'), builtAtMs + 10, 2)).toEqual([one, own]);
  });

  it('lists only what can be claimed in that queue', async () => {
    const { board } = await fresh();
    const free = await submitted(board);
    const claimed = await submitted(board);
    await appendAll(board, claimed, [claimedBy('adolf')]);
    await submitted(board, {}, { to: 'submitted' });
    const other = await submitted(board, { agentId: 'berta' });
    expect(await board.list(queueOf('adolf'), builtAtMs, 10)).toEqual([free]);
    expect(await board.list(queueOf('berta'), builtAtMs, 10)).toEqual([other]);
    expect(await board.list(queueOf('nobody'), builtAtMs, 10)).toEqual([]);
    await appendAll(board, claimed, [releasedBy('adolf', 2)]);
    expect(sorted(await board.list(queueOf('adolf'), builtAtMs, 10))).toEqual(
      sorted([free, claimed]),
    );
  });

  it('lists as many as a worker looks down its queue at once', async () => {
    const { board } = await fresh();
    const uids = await Promise.all(Array.from({ length: 120 }, () => submitted(board)));
    const listed = await board.list(queueOf('adolf'), builtAtMs, limits.candidates);
    expect(sorted(listed)).toEqual(sorted(uids));
  });

  it('lists a scheduled task from its instant on', async () => {
    const { board } = await fresh();
    const notBeforeAtMs = builtAtMs + 60_000;
    const uid = await submitted(board, { definition: { notBeforeAtMs } });
    expect(await board.list(queueOf('adolf'), notBeforeAtMs - 1, 10)).toEqual([]);
    expect(await board.list(queueOf('adolf'), notBeforeAtMs, 10)).toEqual([uid]);
    expect(await board.list(queueOf('adolf'), notBeforeAtMs - 1, 10)).toEqual([]);
  });

  it('tells how many tasks wait in each queue and since when', async () => {
    const { board } = await fresh();
    await submitted(board, {}, { atMs: builtAtMs + 5 });
    await submitted(board, {}, { atMs: builtAtMs + 3 });
    await submitted(board, { agentId: 'berta' }, { to: 'submitted' });
    const held = await submitted(board, { agentId: 'berta' });
    await appendAll(board, held, [claimedBy('berta')]);
    const depths = await board.depths();
    const waiting = depths.filter(({ phase }) => phase === 'ready' || phase === 'submitted');
    expect(sortedBy(waiting, ({ queue }) => queue)).toEqual([
      { queue: 'adolf', phase: 'ready', count: 2, oldestAtMs: builtAtMs + 3 },
      { queue: 'berta', phase: 'submitted', count: 1, oldestAtMs: builtAtMs },
    ]);
  });
}

function describeFinding(fresh: Fresh): void {
  it('finds by every field', async () => {
    const { board } = await fresh();
    const contextId = ContextId.parse('family');
    const parent = await submitted(board, { contextId, submitter: 'carla', responsible: 'dora' });
    const child = await submitted(board, {
      contextId,
      parent,
      submitter: 'adolf',
      submitterRole: 'agent',
      interlocutor: 'emil',
      agentId: 'berta',
      queue: 'reviews',
      definition: { deadlineAtMs: builtAtMs + 1_000 },
    });
    const atMs = builtAtMs + 500;
    const claim = claimedBy('berta', { attempt: 1, atMs });
    await appendAll(board, child, [claim, askedBy('berta', 2, ['frieda'], { atMs })]);
    const running = await submitted(board, { submitter: 'gustav', responsible: 'gustav' });
    await appendAll(board, running, [claimedBy('adolf', { attempt: 1 })]);
    const found = async (query: Omit<TaskQuery, 'limit'>) =>
      sorted(ids((await board.find({ ...query, limit: 10 })).states));

    expect(await found({})).toEqual(sorted([parent, child, running]));
    expect(await found({ contextId })).toEqual(sorted([parent, child]));
    expect(await found({ parent })).toEqual([child]);
    expect(await found({ agentId: 'berta' })).toEqual([child]);
    expect(await found({ queue: queueOf('reviews') })).toEqual([child]);
    expect(await found({ phases: ['input-required', 'working'] })).toEqual(
      sorted([child, running]),
    );
    expect(await found({ leasesOnly: true })).toEqual([running]);
    expect(await found({ dueBeforeMs: builtAtMs + 1_000 })).toEqual([child]);
    expect(await found({ dueBeforeMs: builtAtMs + 999 })).toEqual([]);
    expect(await found({ changedSinceMs: atMs })).toEqual([child]);
    expect(await found({ minVersion: 2 })).toEqual(sorted([child, running]));
    expect(await found({ minVersion: 3 })).toEqual([child]);
    expect(await found({ minVersion: 4 })).toEqual([]);
    expect(await found({ endedBeforeMs: builtAtMs + 1_000_000 })).toEqual([]);
    expect(await found({ submittedBy: { id: 'carla', sinceMs: builtAtMs } })).toEqual([parent]);
    expect(await found({ submittedBy: { id: 'carla', sinceMs: builtAtMs + 1 } })).toEqual([]);
    expect(await found({ contextId, phases: ['ready'] })).toEqual([parent]);
    expect(await found({ principal: 'carla' })).toEqual([parent]);
    expect(await found({ principal: 'dora' })).toEqual([parent]);
    expect(await found({ principal: 'emil' })).toEqual([child]);
    expect(await found({ principal: 'frieda' })).toEqual([child]);
    expect(await found({ principal: 'berta' })).toEqual([child]);
    expect(await found({ principal: 'nobody' })).toEqual([]);
  });

  it('finds only what has not ended for the world outside', async () => {
    const { board } = await fresh();
    const done = async (verification: 'none' | 'submitter') => {
      const uid = await submitted(board, { definition: { verification } });
      await appendAll(board, uid, [claimedBy('adolf', { attempt: 1 }), settledBy('adolf', 2)]);
      return uid;
    };
    const [ended, open, waiting] = [
      await done('none'),
      await done('submitter'),
      await submitted(board),
    ];
    const closed = await done('submitter');
    await appendAll(board, closed, [verifiedBy('alvis')]);
    const found = async (query: Omit<TaskQuery, 'limit'>) =>
      sorted(ids((await board.find({ ...query, limit: 10 })).states));
    expect(await found({ openOnly: true })).toEqual(sorted([open, waiting]));
    expect(await found({ openOnly: true, phases: ['done'] })).toEqual([open]);
    expect(await found({ phases: ['done'] })).toEqual(sorted([ended, open]));
  });

  it('finds what shows as a state, through all that moves a task', async () => {
    const { board } = await fresh();
    const found = async (shownAs: A2aState) => {
      const { states, total } = await board.find({ shownAs, limit: 10 });
      expect(total).toBe(states.length);
      return sorted(ids(states));
    };
    const begun = async (...events: readonly TaskEvent[]) => {
      const uid = await submitted(board, { definition: { verification: 'submitter' } });
      await appendAll(board, uid, [claimedBy('adolf', { attempt: 1 }), ...events]);
      return uid;
    };
    const fresher = await submitted(board);
    const again = await begun(releasedBy('adolf', 2));
    const done = await begun(settledBy('adolf', 2));
    const asked = await begun(askedBy('adolf', 2, ['alvis']));
    const closed = await begun(settledBy('adolf', 2), verifiedBy('alvis'));
    expect(await found('SUBMITTED')).toEqual([fresher]);
    expect(await found('WORKING')).toEqual(sorted([again, done]));
    expect(await found('INPUT_REQUIRED')).toEqual([asked]);
    expect(await found('COMPLETED')).toEqual([closed]);
    expect(await found('REJECTED')).toEqual([]);
    await appendAll(board, fresher, [claimedBy('adolf', { attempt: 1 })]);
    expect(await found('SUBMITTED')).toEqual([]);
    expect(await found('WORKING')).toEqual(sorted([fresher, again, done]));
  });

  it('finds what has ended for the world outside before an instant', async () => {
    const { board } = await fresh();
    const ended = async (verification: 'none' | 'submitter', atMs: number, isVerified = false) => {
      const uid = await submitted(board, { definition: { verification } });
      await appendAll(board, uid, [
        claimedBy('adolf', { attempt: 1 }),
        settledBy('adolf', 2, {}, { atMs }),
        ...(isVerified ? [verifiedBy('alvis', { atMs })] : []),
      ]);
      return uid;
    };
    const old = await ended('none', builtAtMs + 10);
    await ended('none', builtAtMs + 20);
    await ended('submitter', builtAtMs + 10);
    const verified = await ended('submitter', builtAtMs + 10, true);
    const query = { endedBeforeMs: builtAtMs + 20, limit: 10 };
    expect(sorted(ids((await board.find(query)).states))).toEqual(sorted([old, verified]));
    const done = await board.find({ ...query, phases: ['done'] });
    expect(ids(done.states)).toEqual([old]);
  });

  it('finds for a reviewer what any of them may verify, and for nobody else', async () => {
    const { board } = await fresh();
    const done = async (change: Partial<TaskDefinition>) => {
      const uid = await submitted(board, { definition: change });
      await appendAll(board, uid, [claimedBy('adolf', { attempt: 1 }), settledBy('adolf', 2)]);
      return uid;
    };
    const reviewable = await done({ verification: 'reviewer' });
    await done({ verification: 'submitter' });
    await done({ verification: 'reviewer', tainted: true });
    await submitted(board, { definition: { verification: 'reviewer' } });
    const found = async (principal: string, reviewer: boolean) =>
      ids((await board.find({ principal, reviewer, limit: 10 })).states);
    expect(await found('critic', true)).toEqual([reviewable]);
    expect(await found('critic', false)).toEqual([]);
    expect(await found('reviewer', false)).toEqual([]);
  });

  it('finds the few with long logs among many', async () => {
    const { board } = await fresh();
    await Promise.all(Array.from({ length: 20 }, () => submitted(board)));
    const long = await submitted(board);
    const notes = Array.from({ length: 299 }, (_, n) => notedBy('alvis', `note ${n}`));
    for (const [n, note] of notes.entries()) await board.append(long, n + 2, note, 'buffered');
    await board.flush();
    const found = async (minVersion: number) =>
      ids((await board.find({ phases: ['ready'], minVersion, limit: 10 })).states);
    expect(await found(300)).toEqual([long]);
    expect(await found(256)).toEqual([long]);
    expect(await found(200)).toEqual([long]);
    expect(await found(301)).toEqual([]);
  });

  it('pages by the newest phase change, then by task id', async () => {
    const { board } = await fresh();
    const submits = Array.from({ length: 7 }, (_, n) =>
      submittedEvent({}, { atMs: builtAtMs + Math.floor(n / 3) }),
    );
    await Promise.all(submits.map((event) => board.append(event.task.taskId, 1, event)));
    const expected = sortedBy(submits, (event) => event.task.taskId)
      .sort((one, other) => other.atMs - one.atMs)
      .map(({ task }) => task.taskId);
    const seen: TaskId[] = [];
    let cursor: string | undefined;
    do {
      const page = await board.find({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.total).toBe(7);
      expect(page.states.length).toBeLessThanOrEqual(3);
      seen.push(...ids(page.states));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(expected);
  });

  it('ends a last full page without a cursor', async () => {
    const { board } = await fresh();
    await Promise.all([submitted(board), submitted(board)]);
    expect((await board.find({ limit: 2 })).cursor).toBeUndefined();
  });

  it('refuses a cursor of another kind and a page out of bounds', async () => {
    const { board } = await fresh();
    await expect(board.find({ limit: 5, cursor: 'nonsense' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      facts: { path: 'cursor' },
    });
    for (const limit of [0, 501, 1.5]) {
      await expect(board.find({ limit })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    }
    expect((await board.find({ limit: 500 })).states).toEqual([]);
  });

  it('resolves the forms of a task reference', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    expect(await board.resolve(uid)).toBe(uid);
    expect(await board.resolve(`task:${uid}`)).toBe(uid);
    expect(await board.resolve(uid.slice(0, 12))).toBe(uid);
    expect(await board.resolve(uid.slice(0, 5))).toBeUndefined();
    expect(await board.resolve('Zebra')).toBeUndefined();
    expect(await board.resolve('')).toBeUndefined();
    const log = await board.read(uid);
    if (log?.ref) expect(await board.resolve(log.ref.boardTaskId)).toBe(uid);
  });

  it('resolves no prefix that two tasks share', async () => {
    const { board } = await fresh();
    const one = TaskId.parse(`abcdef${'0'.repeat(26)}`);
    const other = TaskId.parse(`abcdef${'1'.repeat(26)}`);
    await submitted(board, { taskId: one });
    await submitted(board, { taskId: other });
    expect(await board.resolve('abcdef')).toBeUndefined();
    expect(await board.resolve('abcdef0')).toBe(one);
  });
}

function describeLiveness(fresh: Fresh): void {
  it('counts the beats of the claim at its version, nothing else', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    await board.beat(uid, 1);
    expect((await board.read(uid))?.beats).toBeUndefined();
    await appendAll(board, uid, [claimedBy('adolf')]);
    const first = (await board.read(uid))?.beats;
    expect(first?.version).toBe(2);
    await board.beat(uid, 2);
    const second = (await board.read(uid))?.beats;
    expect(first?.lastAtMs).toBeUndefined();
    expect(second?.lastAtMs).toBeGreaterThan(0);
    expect(second?.count).not.toBe(first?.count);
    await board.beat(uid, 1);
    await board.beat(uid, 3);
    expect((await board.read(uid))?.beats).toEqual(second);
    await appendAll(board, uid, [releasedBy('adolf', 2), claimedBy('adolf')]);
    expect((await board.read(uid))?.beats?.version).toBe(4);
    await board.beat(uid, 2);
    expect((await board.read(uid))?.beats?.version).toBe(4);
  });

  it('tells watchers of changes until they stop', async () => {
    const { board } = await fresh();
    const seen: [TaskId, string][] = [];
    let stop = () => {};
    const claimSeen = new Promise<void>((resolve) => {
      stop = board.watch((changed, { phase }) => {
        seen.push([changed, phase]);
        if (phase === 'claimed') resolve();
      });
    });
    const uid = await submitted(board);
    await appendAll(board, uid, [claimedBy('adolf')]);
    await claimSeen;
    expect(seen).toContainEqual([uid, 'claimed']);
    stop();
    const before = seen.length;
    await appendAll(board, uid, [releasedBy('adolf', 2)]);
    await board.flush();
    expect(seen).toHaveLength(before);
  });

  it('shows a task to people as often as it is told to, and changes nothing by it', async () => {
    const { board } = await fresh();
    const uid = await submitted(board);
    const log = await board.read(uid);
    const view = { state: log!.state, comment: 'hello' };
    await board.show(uid, view);
    await board.show(uid, view);
    expect((await board.read(uid))?.events).toEqual(log?.events);
  });

  it('ends with everything buffered made durable, and then refuses', async () => {
    const { board, reopen } = await fresh();
    const submit = submittedEvent();
    const { taskId } = submit.task;
    await board.append(taskId, 1, submit, 'buffered');
    await board.close();
    await expect(board.append(taskId, 2, claimedBy('adolf'))).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
    });
    expect((await (await reopen()).read(taskId))?.state.phase).toBe('ready');
  });
}

function sortedBy<T>(all: readonly T[], key: (one: T) => string): T[] {
  return [...all].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
