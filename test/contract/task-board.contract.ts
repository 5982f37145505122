import { afterEach, describe, expect, it } from 'vitest';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import {
  appendAll,
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
import { describeFinding } from './board-finding.contract.ts';
import {
  ids,
  queueOf,
  sorted,
  sortedBy,
  type BoardUnderTest,
  type Fresh,
} from './board-under-test.ts';

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
