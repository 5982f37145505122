import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { openEmbeddedBoard } from '../../fabric/embedded/embedded-board.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { sweepDeadlines } from '../../keeper/deadlines.ts';
import { startKeeper } from '../../keeper/keeper.ts';
import { queueMetrics } from '../../keeper/metrics.ts';
import { sweepRetention } from '../../keeper/retention.ts';
import { appendAll, claimedBy, keeper, settledBy, submitted } from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { queueMesh } from '../support/queue-mesh.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function opened() {
  const clock = manualClock();
  const path = join(await temporaryFolder(), 'mesh.db');
  const board = await openEmbeddedBoard({ path, clock, log: recordingLog() });
  onTestFinished(() => board.close());
  const deps: QueueDeps = { ...queueMesh().deps, board, clock };
  const done = async (verification: 'none' | 'submitter') => {
    const uid = await submitted(board, { definition: { verification } });
    await appendAll(board, uid, [
      claimedBy('adolf', { attempt: 1 }),
      settledBy('adolf', 2, {}, { atMs: clock.nowMs() }),
    ]);
    return uid;
  };
  const stateOf = async (uid: TaskId) => (await board.read(uid))!.state;
  return { board, clock, deps, done, stateOf };
}

it('archives what was completed without verification a week ago, and nothing else', async () => {
  const { clock, deps, done, stateOf } = await opened();
  const completed = await done('none');
  const waiting = await done('submitter');
  const endedAtMs = (await stateOf(completed)).phaseAtMs;
  await clock.advance(limits.retentionMs);
  const younger = await done('none');
  expect(await sweepRetention(deps, keeper)).toBe(0);
  await clock.advance(1);
  expect(await sweepRetention(deps, keeper)).toBe(1);
  expect(await stateOf(completed)).toMatchObject({ phase: 'archived', phaseAtMs: endedAtMs });
  for (const uid of [waiting, younger]) expect((await stateOf(uid)).phase).toBe('done');
  expect(await sweepRetention(deps, keeper)).toBe(0);
});

it('lets the streams of tasks go a day after their end, and keeps those of open ones', async () => {
  const { board, clock, deps, done } = await opened();
  const [ended, open] = [await done('none'), await done('submitter')];
  for (const uid of [ended, open]) {
    const frame = { incarnation: 'one', sequence: 1, frame: {} };
    await board.journal.append(uid, frame, 'committed');
  }
  const frames = (uid: TaskId) => board.journal.read(uid, 'one', 0);
  const { journal } = board;
  const started = { journal, liveness: { isDead: () => Promise.resolve(false) } };
  await clock.advance(limits.streamsMs);
  const early = startKeeper(deps, started);
  await early.stop();
  expect(await frames(ended)).toHaveLength(1);
  await clock.advance(1);
  const late = startKeeper(deps, started);
  await late.stop();
  expect(await frames(ended)).toEqual([]);
  expect(await frames(open)).toHaveLength(1);
});

it('asks about more late tasks than fit on one page', async () => {
  const { board, clock, deps } = await opened();
  const deadlineAtMs = clock.nowMs() + 1;
  const put = () => submitted(board, { definition: { deadlineAtMs } });
  await Promise.all(Array.from({ length: 501 }, put));
  await clock.advance(1);
  expect(await sweepDeadlines(deps, keeper)).toBe(501);
});

it('tells depth and oldest age of each queue', async () => {
  const { board, clock } = await opened();
  await submitted(board);
  await submitted(board);
  await clock.advance(5_000);
  const text = await queueMetrics(board, clock).text();
  expect(text).toContain('mesh_queue_depth{queue="adolf",phase="ready"} 2');
  expect(text).toContain('mesh_queue_oldest_age_seconds{queue="adolf",phase="ready"} 5');
});
