import { describe, expect, it } from 'vitest';
import { SteerParams } from '../../agents/a2a/extension-schemas.ts';
import { TaskEvent } from '../../fabric/domain/events.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { noteMessage, steerTask, type Edit } from '../../fabric/queue/steer.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { sweepDeadLetters } from '../../keeper/dead-letters.ts';
import { keeper } from '../support/board-builders.ts';
import { person, queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const alvis = person('alvis');
const done: RunEnd = { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } };
const long = 'x'.repeat(limits.answerChars + 1);

/** Every event on the board reads back as one: what a load of it asks for. */
async function expectReadable({ deps }: QueueMesh): Promise<void> {
  const { states } = await deps.board.find({ limit: 500 });
  for (const { taskId } of states) {
    for (const event of (await deps.board.read(taskId))!.events) TaskEvent.parse(event);
  }
}

describe('no event gets into a log that its reader would refuse', () => {
  const edits: readonly (readonly [string, Edit])[] = [
    ['deadlineAtMs', { deadlineAtMs: 0 }],
    ['deadlineAtMs', { deadlineAtMs: -5 }],
    ['notBeforeAtMs', { notBeforeAtMs: -1 }],
    ['notBeforeAtMs', { notBeforeAtMs: 1.5 }],
    ['score', { score: 4 as 5 }],
  ];

  it.each(edits)('an edit of %s: %o', async (path, edit) => {
    const mesh = queueMesh();
    const { taskId, version } = await mesh.submit();
    const steered = steerTask(mesh.deps, alvis, taskId, { do: 'edit', edit });
    await expect(steered).rejects.toMatchObject({ code: 'VALIDATION_ERROR', facts: { path } });
    expect((await mesh.stateOf(taskId)).version).toBe(version);
    await expectReadable(mesh);
  });

  it.each([
    ['task.intent.title', { intent: { title: 'x'.repeat(201), body: '' } }],
    ['task.intent.title', { intent: { title: '', body: 'x' } }],
    ['task.acceptance', { acceptance: long }],
    ['task.deadlineAtMs', { deadlineAtMs: 0 }],
    ['task.parts', { parts: Array.from({ length: 33 }, () => ({})) }],
  ] as const)('a submit with a wrong %s', async (path, wrong) => {
    const mesh = queueMesh();
    await expect(mesh.submit(wrong as object)).rejects.toMatchObject({
      ...{ code: 'VALIDATION_ERROR', facts: { path } },
    });
    expect((await mesh.deps.board.find({ limit: 1 })).total).toBe(0);
  });

  it('a message, a reason and a verdict that are too long', async () => {
    const mesh = queueMesh();
    const { taskId: uid } = await mesh.submit();
    const refused = { code: 'VALIDATION_ERROR' };
    const message = { messageId: 'm-1', text: 'x'.repeat(limits.inlineBytes + 1) };
    await expect(noteMessage(mesh.deps, alvis, uid, message)).rejects.toMatchObject(refused);
    const cancel = { principal: alvis, uid, reason: 'x'.repeat(limits.messageChars + 1) };
    await expect(cancelTask(mesh.deps, cancel)).rejects.toMatchObject(refused);
    await mesh.run(uid, done);
    const verdict = { principal: alvis, uid, verdict: 'verified', note: long } as const;
    await expect(verifyTask(mesh.deps, verdict)).rejects.toMatchObject(refused);
    await expectReadable(mesh);
  });

  it('the keeper’s reason, however long the last failure’s was', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const failed: RunEnd = { kind: 'failed', reason: long, retryable: true };
    for (let n = 0; n < limits.attempts; n++) await mesh.run(taskId, failed);
    await sweepDeadLetters(mesh.deps, keeper);
    expect((await mesh.stateOf(taskId)).phase).toBe('dead-letter');
    await expectReadable(mesh);
  });
});

it('cardmesh/steer takes no instant before 1970', () => {
  const edit = (deadlineAtMs: unknown) =>
    SteerParams.safeParse({ taskId: 'a'.repeat(32), do: 'edit', edit: { deadlineAtMs } }).success;
  for (const wrong of ['1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z', 0, -1]) {
    expect(edit(wrong), String(wrong)).toBe(false);
  }
  for (const right of ['2026-12-24T12:00:00Z', 1, null]) expect(edit(right)).toBe(true);
});
