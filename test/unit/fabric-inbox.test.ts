import { expect, it, vi } from 'vitest';
import { inboxOf } from '../../fabric/queue/inbox.ts';
import { appendAll, askedBy, claimedBy, settledBy, submitted } from '../support/board-builders.ts';
import { heldFlush } from '../support/held-flush.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';

it('shows everything that waits for somebody, however much is newer', async () => {
  const { deps } = queueMesh();
  const { board } = deps;
  const finished = async (verification: 'none' | 'submitter', atMs: number) => {
    const uid = await submitted(board, { definition: { verification } }, { atMs });
    const claim = claimedBy('adolf', { attempt: 1, atMs });
    await appendAll(board, uid, [claim, settledBy('adolf', 2, {}, { atMs })]);
    return uid;
  };
  const question = await submitted(board, {}, { atMs: 1 });
  const claim = claimedBy('adolf', { attempt: 1, atMs: 1 });
  await appendAll(board, question, [claim, askedBy('adolf', 2, ['alvis'], { atMs: 1 })]);
  const result = await finished('submitter', 2);
  const atDoor = await submitted(board, {}, { atMs: 3, to: 'submitted' });
  for (let n = 0; n < 501; n++) {
    await finished('none', 1_000 + n);
    await submitted(board, {}, { atMs: 1_000 + n, to: 'suggested' });
  }
  const items = await inboxOf(deps, person('alvis'));
  expect(items.slice(0, 3).map(({ kind, state }) => [kind, state.taskId])).toEqual([
    ['question', question],
    ['verify', result],
    ['admit', atDoor],
  ]);
  expect(items).toHaveLength(3 + 501);
  expect(await inboxOf(deps, person('mallory'))).toEqual([]);
});

it('shows nothing that a crash could still take back', async () => {
  const { deps } = queueMesh();
  const uid = await submitted(deps.board, {}, { to: 'submitted' });
  const disk = heldFlush(deps.board);
  disk.hold();
  let isShown = false;
  const items = inboxOf({ board: disk.board }, person('alvis')).finally(() => (isShown = true));
  await vi.waitFor(() => expect(disk.waiting()).toBe(1));
  expect(isShown).toBe(false);
  disk.release();
  expect((await items).map(({ state }) => state.taskId)).toEqual([uid]);
});
