import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { loadSqlite, type SqliteDatabase } from '../../fabric/embedded/sqlite-module.ts';
import {
  appendAll,
  builtAtMs,
  claimedBy,
  newTaskId,
  notedBy,
  settledBy,
  submitted,
  submittedEvent,
  taskDefinition,
  verifiedBy,
} from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function openAt(path: string, clock = manualClock()) {
  const log = recordingLog();
  const board = await openEmbeddedBoard({ path, clock, log });
  onTestFinished(() => board.close());
  return { board, log, clock };
}

async function withDatabase(path: string, use: (db: SqliteDatabase) => void): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(path);
  use(db);
  db.close();
}

const freshPath = async () => join(await temporaryFolder(), 'state', 'mesh.db');
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the embedded board', () => {
  it('makes its file for its owner alone', async () => {
    const path = await freshPath();
    const { board } = await openAt(path);
    await submitted(board);
    expect(await modeOf(path)).toBe(0o600);
    expect(await modeOf(`${path}-wal`)).toBe(0o600);
    expect(await modeOf(join(path, '..'))).toBe(0o700);
  });

  it('refuses a file of a newer layout and leaves it alone', async () => {
    const path = await freshPath();
    const { board } = await openAt(path);
    await board.close();
    await withDatabase(path, (db) => {
      db.exec('PRAGMA user_version = 99');
    });
    await expect(openAt(path)).rejects.toThrow(/layout 99.*up to 3.*newer release/);
  });

  it('refuses a file of another program', async () => {
    const path = await freshPath();
    await mkdir(join(path, '..'));
    await withDatabase(path, (db) => {
      db.exec('CREATE TABLE recipes (name TEXT)');
    });
    await expect(openAt(path)).rejects.toThrow(/another program/);
  });

  it('refuses a file that is no database', async () => {
    const path = await freshPath();
    await mkdir(join(path, '..'));
    await writeFile(path, 'a letter to my aunt, long enough to be taken for a header '.repeat(20));
    await expect(openAt(path)).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringContaining('not a mesh database') as string,
    });
  });

  it('refuses an event that its log would not fold, and takes the next one', async () => {
    const { board } = await openAt(await freshPath());
    const uid = await submitted(board);
    await expect(board.append(uid, 2, verifiedBy('alvis'))).rejects.toMatchObject({
      code: 'BAD_TRANSITION',
      facts: { taskId: uid, reason: 'wrongPhase' },
    });
    expect(await board.append(uid, 2, claimedBy('adolf'))).toBe('appended');
  });

  it('refuses a submit under another task id', async () => {
    const { board } = await openAt(await freshPath());
    await expect(board.append(newTaskId(), 1, submittedEvent())).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  });

  it('refuses an event of more than two bodies, whatever it would cost its neighbours', async () => {
    const { board } = await openAt(await freshPath());
    const body = 'x'.repeat(2 * limits.bodyBytes);
    const large = submittedEvent({ body });
    const neighbours = [submittedEvent(), submittedEvent()];
    const [first, refusal, last] = await Promise.allSettled([
      board.append(neighbours[0]!.task.taskId, 1, neighbours[0]!),
      board.append(large.task.taskId, 1, large),
      board.append(neighbours[1]!.task.taskId, 1, neighbours[1]!),
    ]);
    expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'PAYLOAD_INLINE' } });
    expect([first, last]).toMatchObject([{ value: 'appended' }, { value: 'appended' }]);
  });

  it('stops a log at its last version', async () => {
    const { board } = await openAt(await freshPath());
    const uid = await submitted(board);
    for (let version = 2; version < limits.reservedFromVersion; version++) {
      await board.append(uid, version, notedBy('alvis', 'again'), 'buffered');
    }
    const next = board.append(uid, limits.reservedFromVersion, notedBy('alvis', 'too much'));
    await expect(next).rejects.toMatchObject({ facts: { reason: 'versionsSpent' } });
    await board.flush();
    expect((await board.read(uid))?.events).toHaveLength(limits.reservedFromVersion - 1);
  });

  it('names a broken row instead of folding half a log, and goes on with the others', async () => {
    const path = await freshPath();
    const { board } = await openAt(path);
    const broken = await submitted(board);
    const whole = await submitted(board);
    await board.close();
    await withDatabase(path, (db) => {
      db.exec(`UPDATE events SET event = '{"kind":"claimed"}' WHERE slot = 1025`);
    });
    const { board: again, log } = await openAt(path);
    await expect(again.read(broken)).rejects.toThrow(
      new RegExp(`The log of task ${broken} cannot be used from version 1`),
    );
    const page = await again.find({ limit: 10 });
    expect(page.states.map(({ taskId }) => taskId)).toEqual([whole]);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', event: 'board.log-broken' }),
    );
  });

  it('makes the derived rows anew from the logs, at opening when they are gone', async () => {
    const path = await freshPath();
    const { board } = await openAt(path);
    const ready = await submitted(board);
    const done = await submitted(board);
    await appendAll(board, done, [claimedBy('adolf', { attempt: 1 }), settledBy('adolf', 2)]);
    await board.close();
    await withDatabase(path, (db) => {
      db.exec('DELETE FROM tasks; DELETE FROM concerned');
    });
    const { board: again, log } = await openAt(path);
    expect(log.lines).toMatchObject([{ event: 'board.index-rebuilt', fields: { tasks: 2 } }]);
    expect(await again.list(taskDefinition().queue, builtAtMs, 5)).toEqual([ready]);
    expect((await again.find({ phases: ['done'], principal: 'adolf', limit: 5 })).total).toBe(1);
    expect(await again.rebuildIndex()).toBe(2);
    expect((await again.find({ principal: 'alvis', limit: 5 })).total).toBe(2);
  });

  it.each([
    [1, 'DROP INDEX tasks_long; ALTER TABLE tasks DROP COLUMN version;'],
    [2, 'ALTER TABLE tasks DROP COLUMN shown;'],
  ])('makes the derived rows of layout %i anew, and keeps its logs', async (layout, changes) => {
    const path = await freshPath();
    const { board } = await openAt(path);
    const uid = await submitted(board);
    await appendAll(board, uid, [claimedBy('adolf')]);
    await board.close();
    await withDatabase(path, (db) => {
      db.exec(`${changes} PRAGMA user_version = ${layout}`);
    });
    const { board: again } = await openAt(path);
    const { states } = await again.find({
      ...{ minVersion: 2, leasesOnly: true, limit: 5 },
      shownAs: 'WORKING',
    });
    expect(states.map(({ taskId }) => taskId)).toEqual([uid]);
  });

  it('goes on telling the other watchers when one of them throws', async () => {
    const { board, log } = await openAt(await freshPath());
    const seen: string[] = [];
    board.watch(() => {
      throw new Error('no use');
    });
    board.watch((uid) => seen.push(uid));
    const uid = await submitted(board);
    expect(seen).toEqual([uid]);
    expect(log.lines).toMatchObject([{ event: 'board.watcher-failed' }]);
  });

  it('finds the page after the first of many tasks that concern one person', async () => {
    const { board } = await openAt(await freshPath());
    await Promise.all(
      Array.from({ length: 1_100 }, (_, n) => submitted(board, {}, { atMs: builtAtMs + n })),
    );
    const first = await board.find({ principal: 'alvis', limit: 500 });
    const second = await board.find({ principal: 'alvis', limit: 500, cursor: first.cursor! });
    const third = await board.find({ principal: 'alvis', limit: 500, cursor: second.cursor! });
    const times = [first, second, third].flatMap(({ states }) =>
      states.map(({ phaseAtMs }) => phaseAtMs - builtAtMs),
    );
    expect(times).toEqual(Array.from({ length: 1_100 }, (_, n) => 1_099 - n));
    expect(third.cursor).toBeUndefined();
  });
});

describe('the embedded journal', () => {
  const frame = (sequence: number, incarnation = 'one') => ({
    sequence,
    incarnation,
    frame: { statusUpdate: { text: `chunk ${sequence} \ud83d\ude00` } },
  });

  it('gives back committed and buffered frames of one incarnation, in order', async () => {
    const path = await freshPath();
    const { board } = await openAt(path);
    const uid = newTaskId();
    await board.journal.append(uid, frame(1), 'committed');
    await board.journal.append(uid, frame(2), 'buffered');
    await board.journal.append(uid, frame(1, 'two'), 'buffered');
    expect(await board.journal.read(uid, 'one', 0)).toEqual([frame(1), frame(2)]);
    expect(await board.journal.read(uid, 'one', 1)).toEqual([frame(2)]);
    expect(await board.journal.read(uid, 'three', 0)).toEqual([]);
    await board.close();
    const { board: again } = await openAt(path);
    expect(await again.journal.read(uid, 'two', 0)).toEqual([frame(1, 'two')]);
  });

  it('drops the frames of tasks that ended before an instant, and only theirs', async () => {
    const clock = manualClock(builtAtMs);
    const { board } = await openAt(await freshPath(), clock);
    const open = await submitted(board);
    const ended = await submitted(board);
    await appendAll(board, ended, [
      claimedBy('adolf', { attempt: 1 }),
      settledBy('adolf', 2),
      verifiedBy('alvis', { atMs: builtAtMs + 50 }),
    ]);
    const orphan = newTaskId();
    for (const uid of [open, ended, orphan]) {
      await board.journal.append(uid, frame(1), 'committed');
    }
    expect(await board.journal.prune(builtAtMs)).toBe(0);
    expect(await board.journal.prune(builtAtMs + 51)).toBe(2);
    expect(await board.journal.read(open, 'one', 0)).toHaveLength(1);
    expect(await board.journal.read(ended, 'one', 0)).toEqual([]);
    expect(await board.journal.read(orphan, 'one', 0)).toEqual([]);
  });
});
