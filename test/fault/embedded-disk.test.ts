import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEmbeddedBoard, type EmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { loadSqlite } from '../../fabric/embedded/sqlite-module.ts';
import {
  appendAll,
  builtAtMs,
  claimedBy,
  notedBy,
  releasedBy,
  submitted,
  submittedEvent,
} from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function openAt(path: string) {
  const log = recordingLog();
  const board = await openEmbeddedBoard({ path, clock: manualClock(), log });
  onTestFinished(() => board.close());
  return { board, log };
}

/** A file system of 4 MiB; undefined where this process may not mount one. */
function smallDisk(folder: string): string | undefined {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk], { stdio: 'pipe' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  return disk;
}

/** Fills the disk to its last block; the returned function frees what it took. */
function fill(disk: string): () => void {
  const path = join(disk, 'ballast');
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(path, Buffer.alloc(bavail * bsize));
  return () => {
    rmSync(path);
  };
}

async function submitUntilRefused(board: EmbeddedBoard): Promise<{ kept: string[]; error: Error }> {
  const kept: string[] = [];
  for (;;) {
    const submit = submittedEvent({ body: 'x'.repeat(20_000) });
    try {
      await board.append(submit.task.taskId, 1, submit);
      kept.push(submit.task.taskId);
    } catch (error) {
      return { kept, error: error as Error };
    }
  }
}

describe('a full disk', () => {
  it('refuses before it acknowledges, and goes on when there is space again', async ({ skip }) => {
    const disk = smallDisk(await temporaryFolder());
    if (disk === undefined) return skip('only root can mount a small disk here');
    const { board, log } = await openAt(join(disk, 'mesh.db'));
    const before = await submitted(board);
    const free = fill(disk);
    const { kept, error } = await submitUntilRefused(board);
    expect(error).toMatchObject({
      code: 'FABRIC_DOWN',
      message: expect.stringContaining('disk is full. Free some space') as string,
    });
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', event: 'board.group-failed' }),
    );
    expect((await board.read(submittedEvent({}).task.taskId)) === undefined).toBe(true);
    expect((await board.find({ limit: 500 })).total).toBe(kept.length + 1);
    await expect(
      board.append(before, 2, notedBy('alvis', 'y'.repeat(8_000))),
    ).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    expect((await board.read(before))?.events).toHaveLength(1);

    free();
    expect(await board.append(before, 2, claimedBy('adolf'))).toBe('appended');
    await board.close();
    const { board: again } = await openAt(join(disk, 'mesh.db'));
    expect((await again.read(before))?.state.phase).toBe('claimed');
    expect((await again.find({ limit: 500 })).total).toBe(kept.length + 1);
  });
});

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : error;

describe('a group that fails', () => {
  /** Writes a slot behind the board's back, as a process that ignores the lock would. */
  async function intrude(path: string, slot: number, event: unknown): Promise<void> {
    const { DatabaseSync } = await loadSqlite();
    const db = new DatabaseSync(path);
    db.exec(`INSERT INTO events (slot, event) VALUES (${slot}, '${JSON.stringify(event)}')`);
    db.close();
  }

  it('acknowledges nothing of it, forgets it, and reads what is true', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const { board, log } = await openAt(path);
    const uid = await submitted(board);
    const theirs = claimedBy('intruder');
    await intrude(path, 1024 + 2, theirs);

    const neighbour = submittedEvent();
    const changes: string[] = [];
    board.watch((changed) => changes.push(changed));
    const answers = await Promise.allSettled([
      board.append(uid, 2, claimedBy('adolf')),
      board.append(neighbour.task.taskId, 1, neighbour),
      board.append(neighbour.task.taskId, 2, claimedBy('berta')),
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'FABRIC_DOWN' } });
    }
    expect(changes).toEqual([]);
    expect(await board.read(neighbour.task.taskId)).toBeUndefined();
    expect((await board.read(uid))?.events[1]).toEqual(theirs);
    expect(log.lines).toMatchObject([{ level: 'error', event: 'board.group-failed' }]);

    expect(await board.append(neighbour.task.taskId, 1, neighbour)).toBe('appended');
    expect(await board.append(uid, 2, claimedBy('adolf'))).toBe('conflict');
    expect(await board.append(uid, 3, releasedBy('intruder', 2))).toBe('appended');
    expect(await board.list(neighbour.task.queue, builtAtMs, 9)).toContain(neighbour.task.taskId);
  });

  it('refuses what was built on it in later batches', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const { board } = await openAt(path);
    const uid = await submitted(board);
    const other = await submitted(board);
    await intrude(path, 1024 + 2, claimedBy('intruder'));
    const late = [board.append(uid, 2, claimedBy('adolf', { attempt: 1 })).catch(codeOf)];
    for (let version = 3; version < 40; version++) {
      await new Promise((resolve) => setImmediate(resolve));
      late.push(board.append(uid, version, notedBy('alvis', `on sand ${version}`)).catch(codeOf));
    }
    const answers = await Promise.all(late);
    expect(answers[0]).toBe('FABRIC_DOWN');
    const log = await board.read(uid);
    expect(log?.events.slice(0, 2).map(({ by }) => by.id)).toEqual(['alvis', 'intruder']);
    expect(
      log?.events.every((event) => event.kind !== 'claimed' || event.by.id === 'intruder'),
    ).toBe(true);
    expect(await board.append(other, 2, claimedBy('adolf'))).toBe('appended');
  });

  it('tells at the next flush, once, that buffered events were lost', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const { board } = await openAt(path);
    const uid = await submitted(board);
    await intrude(path, 1024 + 2, claimedBy('intruder'));
    expect(await board.append(uid, 2, claimedBy('adolf'), 'buffered')).toBe('appended');
    await expect(board.flush()).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    await board.flush();
    await appendAll(board, uid, [releasedBy('intruder', 2)]);
  });

  it('tells whoever flushes what others have written and wait for, since reads showed it', async () => {
    const path = join(await temporaryFolder(), 'mesh.db');
    const { board } = await openAt(path);
    const uid = await submitted(board);
    await intrude(path, 1024 + 2, claimedBy('intruder'));
    const writer = board.append(uid, 2, claimedBy('adolf')).catch(() => 'refused');
    expect((await board.read(uid))?.state.phase).toBe('claimed');
    await expect(board.flush()).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    expect(await writer).toBe('refused');
    await board.flush();
  });
});
