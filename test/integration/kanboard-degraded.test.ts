import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { AvailabilityProbe } from '../../fabric/ports/availability.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { createSlots } from '../../fabric/queue/slots.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { outageLog } from '../../fabric/telemetry/outage-log.ts';
import { systemClock } from '../../fabric/telemetry/system-clock.ts';
import { systemRandom } from '../../fabric/telemetry/system-random.ts';
import { newBoardId, openTestBoard, type TestBoard } from '../support/kanboard-board.ts';
import { person, queueMeshOn } from '../support/queue-mesh.ts';
import { recordingLog, type LogLine } from '../support/recording-log.ts';
import type { Fate } from '../support/services/fates.ts';
import { startFaultyProxy, type FaultyProxy } from '../support/services/faulty-proxy.ts';
import { startKanboard, type RunningKanboard } from '../support/services/kanboard.ts';
import { describeWith } from '../support/services/service.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
const soon = { timeout: 30_000, interval: 50 };
const done: RunEnd = { kind: 'done', outcome: { summary: 'All is well.', artifacts: [] } };
const available: AvailabilityProbe = { at: () => ({ a: 1, reasons: [] }) };

describeWith('kanboard', 'a board that may be down', () => {
  let kanboard: RunningKanboard;
  let proxy: FaultyProxy;
  const opened: TestBoard[] = [];

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

  async function mesh(boardId = newBoardId()) {
    const lines = recordingLog();
    const log = outageLog(lines, systemClock);
    const one = await openTestBoard(
      { ...kanboard, url: proxy.url },
      { boardId, log, pollMs: 100, timeoutMs: 2_000 },
    );
    opened.push(one);
    const { board } = one;
    const use = queueMeshOn({
      board,
      clock: systemClock,
      random: systemRandom,
      log,
      // Task ids come of it, and several meshes share this Kanboard.
      meshSecret: boardId,
    });
    return { ...use, board, lines: lines.lines, boardId };
  }

  const outages: readonly [string, Fate][] = [
    ['that resets every connection', { kind: 'reset' }],
    ['that hangs', { kind: 'hanging' }],
    ['that answers 500 with an empty body', { kind: 'empty-500', executed: false }],
    ['that answers with a page for people', { kind: 'html-page' }],
    ['that cuts its answers', { kind: 'answer-cut' }],
    ['whose disk is full', { kind: 'disk-full' }],
    ['that refuses the token', { kind: 'unauthorized' }],
  ];

  it.each(outages)(
    'answers sync work before a board %s, and tells of it later',
    async (_, fate) => {
      const { submit, run, board, stateOf } = await mesh();
      proxy.always(fate);
      board.start();
      const { taskId } = await submit({ mode: 'sync', verification: 'none' });
      expect(await run(taskId, done)).toMatchObject({ phase: 'done' });
      proxy.clear();
      await vi.waitFor(async () => {
        expect((await stateOf(taskId)).receipts).toHaveProperty('conversation');
      }, soon);
      const { projects } = board.parts;
      const { projectId } = await projects.of((await stateOf(taskId)).queue);
      const [rows] = await board.parts.rpc.batch([
        { method: 'searchTasks', params: { project_id: projectId, query: 'status:all' } },
      ]);
      expect(rows).toMatchObject({ ok: true, result: [{ title: 'Audit', nb_comments: 1 }] });
    },
  );

  it.each(outages)('loses and doubles no async work before a board %s', async (_, fate) => {
    const { deps, submit, board, lines, stateOf } = await mesh();
    board.start();
    const first = await submit();
    const starts: string[] = [];
    const worker = startWorker(deps, {
      ...{ agentId: 'adolf', availability: available, slots: createSlots(), pollMs: 50 },
      incarnation: 'test',
      runTask: ({ state }) => {
        starts.push(state.taskId);
        return Promise.resolve(done);
      },
    });
    await vi.waitFor(async () => {
      expect((await stateOf(first.taskId)).phase).toBe('done');
    }, soon);
    proxy.always(fate);
    const refused = await submit({ idempotencyKey: 'in the outage' }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: 'FABRIC_DOWN' });
    const isOfOutage = ({ event }: LogLine) => /board[.-]down$/.test(event);
    await vi.waitFor(() => {
      expect(lines.some(isOfOutage)).toBe(true);
    }, soon);
    proxy.clear();
    const second = await vi.waitFor(() => submit({ idempotencyKey: 'in the outage' }), soon);
    await vi.waitFor(async () => {
      expect(await stateOf(second.taskId)).toMatchObject({ phase: 'done', attempts: 1 });
    }, soon);
    await worker.stop();
    expect(lines.filter(isOfOutage)).toHaveLength(1);
    expect(starts).toEqual([first.taskId, second.taskId]);
  });

  it('brings a sync task that asks to the board, where another process answers it', async () => {
    const { submit, run, board, boardId, lines, stateOf } = await mesh();
    board.start();
    const { taskId } = await submit({ mode: 'sync', verification: 'submitter' });
    await run(taskId, {
      kind: 'asked',
      question: { kind: 'question', text: 'Which log?', options: [], to: 'submitter' },
    });
    const other = await mesh(boardId);
    other.board.start();
    const asked = await vi.waitFor(() => other.stateOf(taskId), soon);
    const { decisionId } = asked.question!;
    await answerQuestion(other.deps, {
      principal: person('alvis'),
      uid: taskId,
      decisionId,
      value: 'the second',
    });
    await vi.waitFor(async () => {
      expect(await stateOf(taskId)).toMatchObject({ phase: 'ready' });
    }, soon);
    await other.run(taskId, done);
    expect((await stateOf(taskId)).phase).toBe('done');
    const conflicts = [...lines, ...other.lines].filter((line) => line.event.endsWith('conflict'));
    expect(conflicts).toEqual([]);
  });

  it('goes on with every open task after the local state is gone, and starts none twice', async () => {
    const before = await mesh();
    before.board.start();
    const waiting = await before.submit();
    const finished = await before.submit();
    await before.run(finished.taskId, done);
    await opened[0]!.close();
    const after = await mesh(before.boardId);
    const open = await after.board.find({ limit: 10 });
    expect(open.states.map(({ taskId }) => taskId).sort()).toEqual(
      [waiting.taskId, finished.taskId].sort(),
    );
    expect((await after.stateOf(finished.taskId)).phase).toBe('done');
    await expect(after.run(finished.taskId, done)).rejects.toThrow('could not claim');
    await after.run(waiting.taskId, done);
    expect(await after.stateOf(waiting.taskId)).toMatchObject({ phase: 'done', attempts: 1 });
  });
});
