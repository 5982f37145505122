import { describe, expect, it } from 'vitest';
import { doneWord } from '../../cli/text/answer-text.ts';
import { standing } from '../../cli/text/phase-words.ts';
import { taskPage } from '../../cli/text/task-page.ts';
import { phases } from '../../fabric/domain/state.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';
import { taskIn } from '../support/task-in-phase.ts';
import { steerTask } from '../../fabric/queue/steer.ts';

const { deps, submit, run, clock } = queueMesh();

async function pageOf(uid: TaskId): Promise<string> {
  const log = (await deps.board.read(uid))!;
  const around = { nowMs: clock.nowMs(), why: '', parked: false };
  return taskPage(log, { children: [] }, { ...around, paint: (_style, text) => text });
}

describe('the page of a task', () => {
  it('calls a failure a result only when nothing comes after it', async () => {
    const { taskId } = await submit();
    await run(taskId, { kind: 'failed', reason: 'exit 1', retryable: true });
    const waiting = await pageOf(taskId);
    expect(waiting).toMatch(/^last attempt +failed: exit 1$/m);
    expect(waiting).not.toContain('Result');
    await steerTask(deps, person('alvis'), taskId, { do: 'deadletter', reason: 'no use' });
    const ended = await pageOf(taskId);
    expect(ended).toContain('Result\n  failed: no use');
    expect(ended).not.toContain('last attempt');
  });

  it('says which agent has it, and keeps "for" to people', async () => {
    const page = await pageOf((await submit()).taskId);
    expect(page).toMatch(/^agent +adolf$/m);
    expect(page).not.toMatch(/^for /m);
  });

  it('follows the time that a person takes away or gives', async () => {
    const { taskId } = await submit({ notBeforeAtMs: clock.nowMs() + 60_000 });
    const edit = (notBeforeAtMs: number | null) =>
      steerTask(deps, person('alvis'), taskId, { do: 'edit', edit: { notBeforeAtMs } });
    expect((await edit(null)).phase).toBe('ready');
    expect((await edit(clock.nowMs() + 60_000)).phase).toBe('scheduled');
    const rated = { do: 'edit', edit: { priority: 1 } } as const;
    expect((await steerTask(deps, person('alvis'), taskId, rated)).phase).toBe('scheduled');
  });
});

it.each(phases)('where a task stands is a sentence: %s', (phase) => {
  expect(standing('x', { ...taskIn('ready'), phase })).toMatch(/^x (?:is (?!waits)|waits )\w/);
});

it.each([
  ['COMPLETED', 'unverified', 'Task 1a2b3c4d is done, not verified. See: mesh show 1a2b3c4d'],
  ['COMPLETED', 'verified', 'Task 1a2b3c4d is done, verified. See: mesh show 1a2b3c4d'],
  ['WORKING', '', undefined],
  ['FAILED', '', undefined],
])('beside an answer stands which task gave it: %s %s', (state, verification, word) => {
  const status = { state: `TASK_STATE_${state}` };
  const metadata = { verification };
  expect(doneWord({ id: '1a2b3c4d'.repeat(4), status, artifacts: [], metadata })).toBe(word);
});
