import { describe, expect, it, vi } from 'vitest';
import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import { createSlots } from '../../fabric/queue/slots.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const done: RunEnd = { kind: 'done', outcome: { summary: 'It is done.', artifacts: [] } };

/** A run of a fresh task that has ended while the board does not take its outcome. */
async function heldOutcome(
  { deps, submit }: QueueMesh,
  stopping: AbortSignal,
  down: () => boolean,
) {
  const { taskId } = await submit();
  const policy = deps.directory.agent('adolf')!;
  const held = await claimTask(deps, taskId, { policy, incarnation: 'test', startNow: true });
  const { board } = deps;
  const outage = {
    ...deps,
    board: {
      ...board,
      append: (...args: Parameters<typeof board.append>) =>
        down() ? Promise.reject(new BoardUnavailableError('down')) : board.append(...args),
    },
  };
  const runTask = () => Promise.resolve(done);
  const run = runHeld(outage, held!, { policy, runTask, interactive: false, stopping });
  const ended = vi.fn<(how: unknown) => void>();
  run.then(
    () => {
      ended('on record');
    },
    (error: unknown) => {
      ended(error);
    },
  );
  return { taskId, ended };
}

describe('an outcome that the board does not take', () => {
  it('waits for the board as long as its process goes on', async () => {
    const mesh = queueMesh();
    let isDown = true;
    const { signal } = new AbortController();
    const { taskId, ended } = await heldOutcome(mesh, signal, () => isDown);
    await mesh.clock.advance(60_000);
    expect(ended).not.toHaveBeenCalled();
    isDown = false;
    await mesh.clock.advance(31_000);
    expect(ended).toHaveBeenCalledWith('on record');
    expect((await mesh.stateOf(taskId)).phase).toBe('done');
  });

  it('does not hold up a stop that comes while it waits', async () => {
    const mesh = queueMesh();
    const stopping = new AbortController();
    const { ended } = await heldOutcome(mesh, stopping.signal, () => true);
    await mesh.clock.advance(60_000);
    stopping.abort();
    await mesh.clock.advance(0);
    await mesh.clock.advance(2_000);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ code: 'FABRIC_DOWN' }));
  });

  it('is tried a few times more by a process that stops already', async () => {
    const mesh = queueMesh();
    const stopping = new AbortController();
    let isDown = true;
    const { taskId, ended } = await heldOutcome(mesh, stopping.signal, () => isDown);
    stopping.abort();
    await mesh.clock.advance(300);
    isDown = false;
    await mesh.clock.advance(300);
    expect(ended).toHaveBeenCalledWith('on record');
    expect((await mesh.stateOf(taskId)).phase).toBe('done');
  });
});

it('stops a worker that sleeps, without a trace of its turns on the stop', async () => {
  const { deps, clock } = queueMesh();
  const any = vi.spyOn(AbortSignal, 'any');
  const worker = startWorker(deps, {
    agentId: 'adolf',
    runTask: () => Promise.resolve(done),
    availability: { at: () => ({ a: 1, reasons: [] }) },
    slots: createSlots(),
    incarnation: 'test',
  });
  await clock.advance(60_000);
  await worker.stop();
  expect(any).not.toHaveBeenCalled();
  any.mockRestore();
});
