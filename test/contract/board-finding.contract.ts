import { expect, it } from 'vitest';
import type { A2aState } from '../../fabric/domain/a2a-state.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { ContextId, TaskId } from '../../fabric/domain/ids.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';
import type { TaskQuery } from '../../fabric/ports/task-board.ts';
import {
  appendAll,
  askedBy,
  builtAtMs,
  claimedBy,
  notedBy,
  releasedBy,
  settledBy,
  submitted,
  submittedEvent,
  verifiedBy,
} from '../support/board-builders.ts';
import { ids, queueOf, sorted, sortedBy, type Fresh } from './board-under-test.ts';

/** What `TaskBoard` promises of `find` and `resolve`. */
export function describeFinding(fresh: Fresh): void {
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
