import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { roleOf, type ColumnRole } from '../../fabric/kanboard/board-projects.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { asApplication, boardPerson, type BoardPerson } from '../support/board-people.ts';
import {
  commentsOn,
  gate,
  inboxMesh,
  itemsOf,
  openQuestion,
  type InboxMesh,
} from '../support/inbox-mesh.ts';
import type { BoardTask } from '../../fabric/kanboard/kanboard-rows.ts';
import { dueText } from '../../fabric/kanboard/board-tasks.ts';
import { itemNameOf } from '../../fabric/people/inbox/inbox-items.ts';
import type { Clock } from '../../fabric/ports/clock.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { newBoardId } from '../support/kanboard-board.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

const soon = { timeout: 20_000, interval: 150 };

// Two processes, and a Kanboard with one PHP worker that both ask.
vi.setConfig({ testTimeout: 60_000 });

describeWith('kanboard', 'inboxes on a Kanboard under faults', () => {
  let kanboard: RunningKanboard;
  let alvis: BoardPerson;
  const open: InboxMesh[] = [];
  const start = async (boardId: string) => {
    const mesh = await inboxMesh(kanboard, { boardId });
    open.push(mesh);
    return mesh;
  };

  beforeEach(async () => {
    kanboard = await startKanboard({ database: 'sqlite' });
    alvis = await boardPerson(kanboard, 'alvis');
  });
  afterEach(async () => {
    for (const mesh of open.splice(0)) await mesh.close();
    await kanboard.stop();
  });

  const liesIn = (mesh: InboxMesh, uid: TaskId, column: ColumnRole, isOpen: boolean) =>
    vi.waitFor(async () => {
      const project = await mesh.inboxOf('alvis');
      const [item, ...more] = await itemsOf(kanboard, project, uid);
      expect(more).toEqual([]);
      expect([item && roleOf(project, item.columnId), item?.isOpen]).toEqual([column, isOpen]);
      return item!;
    }, soon);

  it('makes, answers and refuses once, whichever of two processes is at it and after a restart', async () => {
    const boardId = newBoardId();
    const meshes = [await start(boardId), await start(boardId)] as const;
    const [one, other] = meshes;
    const ends = [gate, openQuestion];
    const uids = await Promise.all(
      ends.map(async (end, at) => {
        const { taskId } = await meshes[at % 2]!.submit();
        await meshes[at % 2]!.run(taskId, end);
        return taskId;
      }),
    );
    const items = await Promise.all(uids.map((uid) => liesIn(one, uid, 'ready', true)));
    const own = await one.inboxOf('alvis');
    for (const { boardTaskId } of items) await alvis.drags(own, boardTaskId, 'approved');
    await liesIn(one, uids[0]!, 'approved', false);
    // Both have heard of the drags; what was to be said about each is there once.
    const said = () => Promise.all(items.map((item) => commentsOn(kanboard, item.boardTaskId)));
    const count = async () => (await said()).map((comments) => comments.length);
    await vi.waitFor(async () => expect(await count()).toEqual([1, 1]), soon);
    for (const mesh of meshes) await mesh.hears();

    await other.close();
    open.splice(1);
    const again = await start(boardId);
    await again.hears();
    await liesIn(again, uids[1]!, 'ready', true);
    expect(await count()).toEqual([1, 1]);
    await liesIn(again, uids[0]!, 'approved', false);
    expect((await again.stateOf(uids[0]!)).decisions).toHaveLength(1);
  });

  it('puts up and takes in what came while the board was down', async () => {
    const mesh = await start(newBoardId());
    const first = await mesh.submit();
    await mesh.run(first.taskId, gate);
    const item = await liesIn(mesh, first.taskId, 'ready', true);
    const next = await mesh.submit();
    await kanboard.kill();
    const running = mesh.run(next.taskId, openQuestion).catch(() => undefined);
    await vi.waitFor(() => expect(mesh.log.lines).toContainEqual(downLine), soon);
    await kanboard.restart();
    await running;
    const { phase } = await vi.waitFor(() => mesh.stateOf(next.taskId), soon);
    if (phase === 'ready') await mesh.run(next.taskId, openQuestion);
    await liesIn(mesh, next.taskId, 'ready', true);
    await alvis.drags(await mesh.inboxOf('alvis'), item.boardTaskId, 'rejected');
    await liesIn(mesh, first.taskId, 'rejected', false);
  });

  it('mends what lies where nobody put it, is there twice or gone, and wakes what was snoozed', async () => {
    let aheadMs = 0;
    const clock: Clock = {
      ...systemClock,
      nowMs: () => systemClock.nowMs() + aheadMs,
      monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    };
    const mesh = await inboxMesh(kanboard, { clock });
    open.push(mesh);
    const app = asApplication(kanboard);
    const own = await mesh.inboxOf('alvis');
    const [strayed, doubled, gone, snoozed] = await Promise.all(
      [gate, gate, gate, gate].map(async (end) => {
        const { taskId } = await mesh.submit();
        await mesh.run(taskId, end);
        return liesIn(mesh, taskId, 'ready', true);
      }),
    );
    const { projectId: project_id, columnIds } = own;
    const place = { project_id, column_id: columnIds.done };
    await app('moveTaskToProject', { task_id: strayed!.boardTaskId, ...place });
    const twin = { title: 'twin', reference: doubled!.reference, project_id };
    const twinId = await app('createTask', { ...twin, column_id: columnIds.ready });
    await app('removeTask', { task_id: gone!.boardTaskId });
    const dueAtMs = clock.nowMs() + 60_000;
    await alvis.edits(snoozed!.boardTaskId, { date_due: dueText(dueAtMs) });
    await alvis.drags(own, snoozed!.boardTaskId, 'waiting');
    const uidOf = (item: BoardTask | undefined) => itemNameOf(item!.reference)!.uid;

    await liesIn(mesh, uidOf(gone), 'ready', true);
    await vi.waitFor(async () => {
      const twins = await itemsOf(kanboard, own, uidOf(doubled));
      const lies = twins.map(({ boardTaskId, isOpen }) => [boardTaskId, isOpen]);
      expect(lies.sort()).toEqual(
        [
          [doubled!.boardTaskId, true],
          [Number(twinId), false],
        ].sort(),
      );
    }, soon);
    const bea = await boardPerson(kanboard, 'bea');
    await bea.joins(own);
    await mesh.hears();
    await liesIn(mesh, uidOf(strayed), 'done', true);
    await liesIn(mesh, uidOf(snoozed), 'waiting', true);
    aheadMs = 90_000;
    await liesIn(mesh, uidOf(strayed), 'ready', true);
    await liesIn(mesh, uidOf(snoozed), 'ready', true);
    expect((await mesh.stateOf(uidOf(snoozed))).phase).toBe('input-required');
    const shared = { level: 'error', event: 'inbox.not-private' };
    await vi.waitFor(() => {
      expect(mesh.log.lines).toContainEqual(expect.objectContaining(shared));
    }, soon);
  });
});

const downLine = expect.objectContaining({ event: 'board.down' }) as unknown;
