import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { AgentId, Fence } from '../../fabric/domain/ids.ts';
import type { KanboardBoardOptions } from '../../fabric/kanboard/kanboard-board.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { appendAll, builtAtMs, claimedBy, keeper, newToken } from '../support/board-builders.ts';
import { newBoardId, openTestBoard, type TestBoard } from '../support/kanboard-board.ts';
import { person, queueMeshOn } from '../support/queue-mesh.ts';
import { recordingLog } from '../support/recording-log.ts';
import { calling, startFaultyProxy, type FaultyProxy } from '../support/services/faulty-proxy.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const soon = { timeout: 30_000, interval: 50 };
const done: RunEnd = { kind: 'done', outcome: { summary: 'All is well.', artifacts: [] } };

describeWith('kanboard', 'what a board task shows', () => {
  let kanboard: RunningKanboard;
  let proxy: FaultyProxy;
  const opened: TestBoard[] = [];
  let passedMs = 0;

  beforeAll(async () => {
    kanboard = await startKanboard({ database: 'sqlite' });
    proxy = await startFaultyProxy(kanboard.url);
  });
  afterEach(async () => {
    proxy.clear();
    for (const one of opened.splice(0)) await one.close();
  });
  afterAll(async () => {
    await proxy.stop();
    await kanboard.stop();
  });

  async function mesh(
    boardId = newBoardId(),
    url = kanboard.url,
    more: Partial<KanboardBoardOptions> = {},
  ) {
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
    const log = recordingLog();
    const one = await openTestBoard(
      { ...kanboard, url },
      { boardId, log, clock, pollMs: 50, ...more },
    );
    opened.push(one);
    const { board } = one;
    const use = queueMeshOn(
      { board, clock, random: systemRandom, log, meshSecret: boardId },
      { id: 'berta' },
    );
    return { ...use, ...one, boardId };
  }

  /** As another program with the application token would. */
  async function as(one: TestBoard, method: string, params: Record<string, unknown>) {
    const [reply] = await one.board.parts.rpc.batch([{ method, params }]);
    if (!reply?.ok) throw new Error(`${method}: ${reply?.message ?? 'no answer'}`);
    return reply.result;
  }

  async function shown(one: Awaited<ReturnType<typeof mesh>>, taskId: string) {
    const { board, stateOf } = one;
    await board.parts.display.settled();
    const row = (await board.parts.tasks.refresh(await stateOf(taskId as never)))!;
    const project = await board.parts.projects.of((await stateOf(taskId as never)).queue);
    const task_id = row.boardTaskId;
    const comments = (await as(one, 'getAllComments', { task_id })) as { comment: string }[];
    const tags = Object.values((await as(one, 'getTaskTags', { task_id })) as object);
    const role = Object.entries(project.columnIds).find(([, id]) => id === row.columnId)?.[0];
    return { row, tags, column: role, comments: comments.map(({ comment }) => comment) };
  }

  it('follows a task from its submit to its verification, in words and columns', async () => {
    const one = await mesh();
    const { taskId } = await one.submit({
      intent: { title: 'Audit the log', body: 'Look at *all* of it.' },
      acceptance: 'Every line was read.',
      priority: 2,
      score: 5,
    });
    const ready = await shown(one, taskId);
    expect(ready).toMatchObject({ column: 'ready', tags: [], comments: [] });
    expect(ready.row).toMatchObject({
      title: 'Audit the log',
      priority: 2,
      score: 5,
      isOpen: true,
    });
    expect(ready.row.description).toBe(
      'Look at *all* of it.\n\n**Acceptance**\n\nEvery line was read.',
    );
    await one.run(taskId, done);
    const unverified = await shown(one, taskId);
    expect(unverified).toMatchObject({ column: 'done', row: { isOpen: true } });
    expect(unverified.comments).toHaveLength(2);
    expect(unverified.comments[0]).toMatch(/^🔒 \*\*adolf\*\* is at work since/);
    expect(unverified.comments[1]).toMatch(
      /^✅ Done, in the words of \*\*adolf\*\*:\n\n> All is well\.\n\nNot verified yet\./,
    );
    await verifyTask(one.deps, { principal: person('alvis'), uid: taskId, verdict: 'verified' });
    const closed = await shown(one, taskId);
    expect(closed).toMatchObject({ column: 'done', row: { isOpen: false } });
    expect(closed.comments.at(-1)).toMatch(/^✔ Verified by \*\*alvis\*\*\./);
    const words = JSON.stringify(closed.comments);
    expect(words).not.toContain(taskId);
  });

  it('leaves the tags, comments, swimlane and files of others alone', async () => {
    const one = await mesh();
    const { taskId } = await one.submit();
    const before = await shown(one, taskId);
    const { boardTaskId: task_id, projectId: project_id } = before.row;
    const lane = await as(one, 'addSwimlane', { project_id, name: 'Urgent' });
    const column_id = before.row.columnId;
    await as(one, 'moveTaskToProject', { task_id, project_id, swimlane_id: lane, column_id });
    await as(one, 'setTaskTags', { project_id, task_id, tags: ['customer-a'] });
    await as(one, 'createComment', { task_id, user_id: 0, content: 'Mine.' });
    await as(one, 'createTaskFile', { project_id, task_id, filename: 'a.txt', blob: 'YQ==' });
    await one.board.parts.tasks.refresh(await one.stateOf(taskId));
    await one.run(taskId, {
      kind: 'asked',
      question: { kind: 'question', text: 'Which log?', options: [], to: 'submitter' },
    });
    const after = await shown(one, taskId);
    expect(after).toMatchObject({ column: 'working', row: { swimlaneId: lane } });
    expect(after.tags.sort()).toEqual(['blocked', 'customer-a']);
    expect(after.comments).toContain('Mine.');
    expect(await as(one, 'getAllTaskFiles', { task_id })).toHaveLength(1);
  });

  it('links a task to the one it comes from', async () => {
    const one = await mesh();
    const parent = await one.submit();
    const target = { kind: 'agent', agentId: AgentId.parse('berta') } as const;
    const child = await one.submit({ parent: parent.taskId, target });
    const { row } = await shown(one, child.taskId);
    const links = await as(one, 'getAllTaskLinks', { task_id: row.boardTaskId });
    const above = one.board.parts.tasks.known(parent.taskId);
    expect(links).toMatchObject([{ label: 'is a child of', task_id: above?.boardTaskId }]);
  });

  it('is put right by another process when the author died before it showed anything', async () => {
    const author = await mesh(newBoardId(), proxy.url);
    const { taskId } = await author.submit();
    await author.board.parts.display.settled();
    const other = await mesh(author.boardId);
    other.board.start();
    await vi.waitFor(() => other.stateOf(taskId), soon);
    proxy.always({ kind: 'reset' }, calling('moveTaskToProject'));
    await author.run(taskId, done);
    await author.close();
    await vi.waitFor(async () => {
      expect((await other.stateOf(taskId)).phase).toBe('done');
    }, soon);
    expect((await shown(other, taskId)).column).toBe('ready');
    passedMs += 60_000;
    await vi.waitFor(async () => {
      const now = await shown(other, taskId);
      expect(now).toMatchObject({ column: 'done', row: { isOpen: true } });
      expect(now.comments.filter((text) => text.startsWith('✅'))).toHaveLength(1);
    }, soon);
  });

  it('says no word of a task where more people see the project than it is for', async () => {
    const one = await mesh(newBoardId(), kanboard.url, { showsWords: () => false });
    const { taskId } = await one.submit({ intent: { title: 'My secret', body: 'My secret too.' } });
    await one.run(taskId, {
      kind: 'done',
      outcome: { summary: 'The secret is out.', artifacts: [] },
    });
    const { row, comments } = await shown(one, taskId);
    expect(row.title).toBe('A task of alvis');
    expect(comments).toHaveLength(2);
    expect(JSON.stringify([row, comments])).not.toMatch(/secret/i);
  });

  it('goes on on the elder of two board tasks that a doubled request made', async () => {
    const one = await mesh();
    const { taskId } = await one.submit();
    const { row } = await shown(one, taskId);
    const { projectId: project_id, columnId: column_id, reference, title } = row;
    const twin = await as(one, 'createTask', { title, project_id, column_id, reference });
    const other = await mesh(one.boardId);
    other.board.start();
    await vi.waitFor(async () => {
      const now = (await as(one, 'getTask', { task_id: twin })) as { is_active: number };
      expect(now.is_active).toBe(0);
    }, soon);
    await other.run(taskId, done);
    const after = await shown(other, taskId);
    expect(after).toMatchObject({ column: 'done', row: { boardTaskId: row.boardTaskId } });
  });

  it('learns by a beat, in one request, that its claim was taken over', async () => {
    const one = await mesh();
    const { taskId } = await one.submit();
    await appendAll(one.board, taskId, [claimedBy('adolf', { attempt: 1 })]);
    await one.board.parts.display.settled();
    const other = await mesh(one.boardId);
    const expired = { kind: 'expired', by: keeper, atMs: builtAtMs, token: newToken() } as const;
    const event = { ...expired, fence: Fence.parse(2), reason: 'no beat' };
    expect(await other.board.append(taskId, 3, event)).toBe('appended');
    const batch = vi.spyOn(one.board.parts.rpc, 'batch');
    await one.board.beat(taskId, 2);
    expect(batch).toHaveBeenCalledTimes(1);
    expect((await one.board.known(taskId))?.state.claim).toBeUndefined();
  });
});
