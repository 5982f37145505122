import { describe, expect, it } from 'vitest';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { noteMessage } from '../../fabric/queue/steer.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { person, queueMesh, type MemoryQueueMesh } from '../support/queue-mesh.ts';

const asked: RunEnd = {
  kind: 'asked',
  question: { kind: 'question', to: 'submitter', text: 'Which one?', options: [] },
};
const principal = person('alvis');

/** Follow-up messages until the log has `version` events. */
async function fillTo(
  { deps, stateOf }: MemoryQueueMesh,
  uid: TaskId,
  version: number,
): Promise<void> {
  for (let now = (await stateOf(uid)).version; now < version; now++) {
    await noteMessage(deps, principal, uid, { messageId: `m-${now}`, text: 'And?' });
  }
}

/** Claims and starts the task, fills its log to `version`, then ends the run. */
async function endAt(mesh: MemoryQueueMesh, uid: TaskId, version: number, end: RunEnd) {
  const { deps } = mesh;
  const policy = deps.directory.agent('adolf')!;
  const held = await claimTask(deps, uid, { policy, incarnation: 'test', startNow: true });
  const stopping = new AbortController().signal;
  const runTask = async () => {
    await fillTo(mesh, uid, version);
    return end;
  };
  return runHeld(deps, held!, { policy, runTask, interactive: false, stopping });
}

const reserved = limits.reservedFromVersion - 1;

describe('the end of a run that its log has no room for', () => {
  const soon = (mesh: MemoryQueueMesh) => mesh.clock.nowMs() + 60_000;

  it.each([
    ['a question', () => asked],
    ['a failure on its tier', () => ({ kind: 'failed', reason: 'too hard', retryable: false })],
    ['a wish to be woken', (mesh) => ({ kind: 'deferred', wakeAtMs: soon(mesh) })],
  ] as readonly (readonly [string, (mesh: MemoryQueueMesh) => RunEnd])[])(
    'is put to a person: %s',
    async (_name, end) => {
      const mesh = queueMesh();
      const { taskId } = await mesh.submit();
      const state = await endAt(mesh, taskId, reserved, end(mesh));
      expect(state).toMatchObject({ phase: 'needs-review', question: { to: ['alvis'] } });
      expect(state?.question?.text).toContain('its log is full');
    },
  );

  it('is put to a person: the 65th question, with its words', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    for (let time = 0; time < limits.decisions; time++) {
      const { question } = await mesh.run(taskId, asked);
      const { decisionId } = question!;
      const value = 'The first.';
      await answerQuestion(mesh.deps, { principal, uid: taskId, decisionId, value });
    }
    const state = await mesh.run(taskId, asked);
    expect(state.phase).toBe('needs-review');
    expect(state.question?.text).toContain('its questions are spent; it asked: Which one?');
  });

  it('is kept as it is where there is room: a result', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const done: RunEnd = { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } };
    expect((await endAt(mesh, taskId, reserved, done))?.phase).toBe('done');
  });
});

describe('a log without room for a run', () => {
  it('takes no claim, and why says what becomes of it', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    await fillTo(mesh, taskId, limits.reservedFromVersion - limits.eventsOfRun);
    const policy = mesh.deps.directory.agent('adolf')!;
    expect(await claimTask(mesh.deps, taskId, { policy, incarnation: 'test' })).toBeUndefined();
    const why = whyWaiting(await mesh.stateOf(taskId), { nowMs: mesh.clock.nowMs() });
    expect(why).toContain('no room for another run (477 of 512 events)');
  });

  it('gives back a claim that was overtaken by messages, instead of throwing', async () => {
    const mesh = queueMesh();
    const { deps } = mesh;
    const { taskId } = await mesh.submit();
    const policy = deps.directory.agent('adolf')!;
    const held = await claimTask(deps, taskId, { policy, incarnation: 'test' });
    await fillTo(mesh, taskId, reserved);
    const runTask = () => Promise.reject(new Error('nothing may be started'));
    const stopping = new AbortController().signal;
    const options = { policy, runTask, interactive: false, stopping };
    expect(await runHeld(deps, held!, options)).toMatchObject({ phase: 'ready', attempts: 0 });
  });
});

it('puts a wait for an event to a person while no event is ever received', async () => {
  const mesh = queueMesh();
  const { taskId } = await mesh.submit();
  const state = await mesh.run(taskId, { kind: 'awaited', eventId: 'mail-7' });
  expect(state.phase).toBe('needs-review');
  expect(state.question?.text).toContain('it waits for the event mail-7');
  const { decisionId } = state.question!;
  const value = 'ready';
  const after = await answerQuestion(mesh.deps, { principal, uid: taskId, decisionId, value });
  expect(after.phase).toBe('ready');
});
