import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, it, vi } from 'vitest';
import { boardRoutes } from '../../agents/board-routes.ts';
import { MeshError } from '../../fabric/domain/errors.ts';
import { PrincipalId, QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { scopes, type Principal, type Scope } from '../../fabric/domain/principal.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import { remoteBoard } from '../../fabric/remote/remote-board.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import {
  claimedBy,
  settledBy,
  newTaskId,
  submitted,
  submittedEvent,
} from '../support/board-builders.ts';
import { heldFlush } from '../support/held-flush.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { describeTaskBoard } from './task-board.contract.ts';

const host = (id: string, granted: readonly Scope[]): Principal => ({
  id: PrincipalId.parse(id),
  role: 'agent',
  trust: 'trusted',
  scopes: new Set(granted),
});

async function served(principal: Principal) {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-remote-'));
  const behind = await openEmbeddedBoard({
    path: join(folder, 'mesh.db'),
    clock: manualClock(),
    log: recordingLog(),
  });
  const app = new Hono().route(
    '/board',
    boardRoutes({
      board: behind,
      authenticate: () => Promise.resolve(principal),
      onError: (error, c) =>
        error instanceof MeshError
          ? c.json({ code: error.code, detail: error.message, ...error.facts }, 409)
          : c.json({ detail: error.message }, 500),
    }),
  );
  const connect = (
    fetch = (url: string, init: RequestInit) => Promise.resolve(app.request(url, init)),
  ) =>
    remoteBoard({
      url: 'http://mesh.test',
      authorization: () => Promise.resolve('Bearer x'),
      fetch,
      clock: systemClock,
    });
  const board = connect();
  const clients = [board];
  const reopen = async () => {
    await board.close();
    const again = connect();
    clients.push(again);
    return again;
  };
  const dispose = async () => {
    await Promise.all(clients.map((client) => client.close()));
    await behind.close();
    await rm(folder, { recursive: true });
  };
  return { board, behind, connect, app, reopen, dispose };
}

describeTaskBoard('remote', () => served(host('host-2', scopes)));

it('calls an append unknown when its answer was lost, and the slot tells afterwards', async () => {
  const { board, connect, app, dispose } = await served(host('host-2', scopes));
  const uid = await submitted(board);
  const lossy = connect(async (url, init) => {
    await app.request(url, init);
    throw new TypeError('socket closed');
  });
  const event = claimedBy('adolf');
  expect(await lossy.append(uid, 2, event)).toBe('unknown');
  expect(await board.append(uid, 2, event)).toBe('appended');
  await lossy.close();
  await dispose();
});

it('commits what its caller would have buffered, before it says appended', async () => {
  const { board, behind, dispose } = await served(host('host-2', scopes));
  const append = vi.spyOn(behind, 'append');
  const submit = submittedEvent();
  await board.append(submit.task.taskId, 1, submit, 'buffered');
  await board.append(submit.task.taskId, 2, claimedBy('adolf'), 'buffered');
  expect(append.mock.calls.map(([, version, , durability]) => [version, durability])).toEqual([
    [1, 'committed'],
    [2, 'committed'],
  ]);
  await dispose();
});

it('flushes the board behind it, whose reads may show what is not durable yet', async () => {
  const { board, behind, dispose } = await served(host('host-2', scopes));
  const flush = vi.spyOn(behind, 'flush');
  await board.flush();
  expect(flush).toHaveBeenCalledOnce();
  await dispose();
});

it('lets nobody write without tasks:work, in another name, or against the table', async () => {
  const reader = await served(host('reader', ['tasks:read']));
  const uid = await submitted(reader.behind);
  await expect(reader.board.append(uid, 2, claimedBy('reader'))).rejects.toMatchObject({
    code: 'TRUST_DENIED',
  });
  await expect(reader.board.list(QueueId.parse('adolf'), 0, 1)).rejects.toMatchObject({
    code: 'TRUST_DENIED',
  });
  await reader.dispose();

  const worker = await served(host('adolf', ['tasks:work', 'tasks:read']));
  const task = await submitted(worker.behind);
  await expect(worker.board.append(task, 2, claimedBy('somebody-else'))).rejects.toMatchObject({
    code: 'TRUST_DENIED',
  });
  await expect(worker.board.append(task, 2, settledBy('adolf', 1))).rejects.toMatchObject({
    code: 'BAD_TRANSITION',
  });
  expect(await worker.board.append(task, 2, claimedBy('adolf'))).toBe('appended');
  await worker.dispose();
});

it('takes a new task from an administrator alone, and only in its own log', async () => {
  const forged = submittedEvent({ taskId: newTaskId() });
  const { taskId } = forged.task;
  // Its own name, and still a person's authority: who it is done for, that it is admitted and untainted.
  const worker = await served(host(forged.by.id, ['tasks:work', 'tasks:submit', 'tasks:read']));
  await expect(worker.board.append(taskId, 1, forged)).rejects.toMatchObject({
    code: 'TRUST_DENIED',
    message: expect.stringContaining('/agents/<id>/') as unknown,
  });
  expect(await worker.behind.read(taskId)).toBeUndefined();
  await worker.dispose();

  const admin = await served(host('host-2', scopes));
  await expect(admin.board.append(newTaskId(), 1, forged)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(taskId) as unknown,
  });
  expect(await admin.board.append(taskId, 1, forged)).toBe('appended');
  await admin.dispose();
});

it('lets a worker read what it works on with tasks:work alone', async () => {
  const { board, behind, app, dispose } = await served(host('adolf', ['tasks:work']));
  const uid = await submitted(behind);
  expect((await board.read(uid))?.uid).toBe(uid);
  expect(await board.resolve(uid)).toBe(uid);
  expect((await board.find({ limit: 10 })).states).toHaveLength(1);
  await board.flush();
  expect(await board.depths()).toHaveLength(1);
  const changes = await app.request('http://mesh.test/board/changes');
  expect(changes.status).toBe(200);
  await changes.body?.cancel();
  await dispose();
});

it('shows nothing to who may neither read nor work', async () => {
  const { board, behind, app, dispose } = await served(host('host-2', ['tasks:submit']));
  const uid = await submitted(behind);
  const refused = { code: 'TRUST_DENIED' };
  expect(await board.read(uid)).toBeUndefined();
  await expect(board.find({ limit: 10 })).rejects.toMatchObject(refused);
  await expect(board.flush()).rejects.toMatchObject(refused);
  await expect(board.depths()).rejects.toMatchObject(refused);
  expect((await app.request('http://mesh.test/board/changes')).ok).toBe(false);
  await dispose();
});

it('shows a stranger neither a task nor that it exists', async () => {
  const stranger = await served(host('stranger', ['tasks:read']));
  const uid = await submitted(stranger.behind);
  expect(await stranger.board.read(uid)).toBeUndefined();
  expect(await stranger.board.resolve(uid)).toBeUndefined();
  expect((await stranger.board.find({ limit: 10 })).states).toEqual([]);
  expect(await stranger.board.read(newTaskId())).toBeUndefined();
  await stranger.dispose();
});

it('refuses a call that is not of the protocol, naming the field', async () => {
  const { app, dispose } = await served(host('host-2', scopes));
  const event = submittedEvent();
  for (const [body, field] of [
    [{ op: 'append', uid: 'x', version: 1, event }, 'uid'],
    [{ op: 'append', uid: event.task.taskId, version: 0, event }, 'version'],
    [{ op: 'find', query: { limit: 501 } }, 'query.limit'],
    [{ op: 'list', queue: 'adolf', nowMs: 0, limit: limits.candidates + 1 }, 'limit'],
    [{ op: 'drop-everything' }, 'op'],
  ] as const) {
    const answer = await app.request('http://mesh.test/board', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect(answer.ok).toBe(false);
    const problem = (await answer.json()) as { code: string; detail: string };
    expect(problem.code).toBe('VALIDATION_ERROR');
    expect(problem.detail).toContain(field);
  }
  await dispose();
});

it('tells nobody what a crash of its own process could still take back', async () => {
  const { behind, connect, dispose } = await served(host('host-2', scopes));
  const disk = heldFlush(behind);
  const routes = boardRoutes({
    board: disk.board,
    authenticate: () => Promise.resolve(host('host-2', scopes)),
    onError: (error, c) => c.json({ detail: error.message }, 500),
  });
  const held = new Hono().route('/board', routes);
  const board = connect((url, init) => Promise.resolve(held.request(url, init)));
  const uid = await submitted(behind);
  disk.hold();
  const looks = [board.read(uid), board.resolve(uid.slice(0, 8)), board.find({ limit: 10 })];
  let answered = 0;
  for (const look of looks) void look.then(() => (answered += 1));
  await vi.waitFor(() => expect(disk.waiting()).toBe(looks.length));
  expect(answered).toBe(0);
  disk.release();
  const [log, resolved, page] = await Promise.all(looks);
  expect([log, resolved, page]).toMatchObject([{ uid }, uid, { total: 1 }]);
  await board.close();
  await dispose();
});
