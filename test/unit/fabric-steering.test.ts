import { describe, expect, it } from 'vitest';
import { AgentId, type TaskId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { scopes, type Scope } from '../../fabric/domain/principal.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { claimTask, releaseTask } from '../../fabric/queue/claim.ts';
import { reworkTask } from '../../fabric/queue/rework.ts';
import { steerTask, type Steering } from '../../fabric/queue/steer.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import type { TaskDefinition } from '../../fabric/domain/task.ts';
import { manualClock } from '../support/manual-clock.ts';
import { afterKinds, taskIn } from '../support/task-in-phase.ts';
import { agentCaller, person, queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const steerings: readonly (readonly [string, Steering, Scope])[] = [
  ['admit', { do: 'admit' }, 'tasks:answer'],
  ['resume', { do: 'resume' }, 'tasks:answer'],
  ['edit', { do: 'edit', edit: { priority: 1 } }, 'tasks:submit'],
  ['pause', { do: 'pause' }, 'tasks:cancel'],
  ['revoke', { do: 'revoke', to: 'ready' }, 'tasks:cancel'],
  ['archive', { do: 'archive' }, 'tasks:cancel'],
  ['give up', { do: 'deadletter', reason: 'nobody wants it' }, 'tasks:cancel'],
];

describe.each(steerings)('to %s a task', (_name, steering, scope) => {
  it('takes more than seeing it', async () => {
    const mesh = queueMesh();
    const { taskId, version } = await mesh.submit();
    const reader = { ...person('mallory'), scopes: new Set(scopes.filter((s) => s !== 'admin')) };
    await expect(steerTask(mesh.deps, reader, taskId, steering)).rejects.toMatchObject({
      code: 'TRUST_DENIED',
    });
    expect((await mesh.stateOf(taskId)).version).toBe(version);
  });

  it('takes the scope for it', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const without = person(
      'alvis',
      scopes.filter((one) => one !== scope),
    );
    await expect(steerTask(mesh.deps, without, taskId, steering)).rejects.toMatchObject({
      code: 'TRUST_DENIED',
      facts: { scope },
    });
  });

  it('is nobody’s business who may not see it', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    await expect(steerTask(mesh.deps, person('mallory'), taskId, steering)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

it('is what its person may do', async () => {
  const { deps, submit } = queueMesh();
  const { taskId } = await submit({ principal: agentCaller('adolf') });
  const paused = await steerTask(deps, person('alvis'), taskId, { do: 'pause' });
  expect(paused.phase).toBe('paused');
});

describe('a pause and its end', () => {
  const steered = (mesh: QueueMesh, uid: TaskId, steering: Steering) =>
    steerTask(mesh.deps, person('alvis'), uid, steering);
  const later = { notBeforeAtMs: manualClock().nowMs() + 3_600_000 };
  const strange = { principal: agentCaller('guest', { trust: 'sandboxed' }) };

  it.each([
    ['ready', {}],
    ['scheduled', later],
    ['submitted', strange],
  ] as const)('leave a task as it was: %s', async (phase, change) => {
    const mesh = queueMesh({ id: 'guest', trust: 'sandboxed' });
    const before = await mesh.submit(change);
    expect(before.phase).toBe(phase);
    await steered(mesh, before.taskId, { do: 'pause' });
    const { version: _more, ...after } = await steered(mesh, before.taskId, { do: 'resume' });
    const { version: _fewer, ...was } = before;
    expect(after).toEqual({ ...was, phaseAtMs: after.phaseAtMs });
  });

  it('let nobody’s suggestion slip in', () => {
    const suggested = taskIn('suggested');
    expect(afterKinds(suggested, 'paused', 'resumed').phase).toBe('suggested');
  });

  it('follow what was edited meanwhile', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    await steered(mesh, taskId, { do: 'pause' });
    await steered(mesh, taskId, { do: 'edit', edit: later });
    expect((await steered(mesh, taskId, { do: 'resume' })).phase).toBe('scheduled');
  });

  it('make ready again what was taken back from a run', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const policy = { agentId: AgentId.parse('adolf'), leaseMs: 60_000 };
    const held = await claimTask(mesh.deps, taskId, { policy, incarnation: 'x', startNow: true });
    await steered(mesh, taskId, { do: 'revoke', to: 'paused' });
    expect((await releaseTask(mesh.deps, held!, 'told to')).phase).toBe('paused');
    expect((await steered(mesh, taskId, { do: 'resume' })).phase).toBe('ready');
  });
});

describe('why a task waits for a person at the door', () => {
  const whyOf = (change: Partial<TaskDefinition>) =>
    whyWaiting(taskIn('submitted', change), { nowMs: 0 });
  it.each([
    ['tainted', { tainted: true, admitted: false }, /tainted input/],
    ['not admitted', { admitted: false }, /alvis is not in the admit list/],
    ['admitted, held back by a person', { admitted: true }, /held back until a person/],
  ])('names the true reason: %s', (_name, change, words) => {
    expect(whyOf(change)).toMatch(words);
    expect(whyOf(change)).toContain('mesh task admit');
  });
});

it('gives a task up for a person, whether somebody holds it or not, and says why', async () => {
  const { deps, submit, run } = queueMesh();
  const waiting = await submit();
  const reason = 'nobody wants it';
  const after = await steerTask(deps, person('alvis'), waiting.taskId, {
    do: 'deadletter',
    reason,
  });
  expect(after).toMatchObject({ phase: 'dead-letter', failure: reason });
  const held = await submit();
  const claimed = await claimTask(deps, held.taskId, {
    policy: { agentId: AgentId.parse('adolf'), leaseMs: 60_000 },
    incarnation: 'here',
    startNow: true,
  });
  expect(claimed?.state.phase).toBe('working');
  const ended = await steerTask(deps, person('alvis'), held.taskId, { do: 'deadletter', reason });
  expect(ended).toMatchObject({ phase: 'dead-letter', failure: reason });
  expect(ended.claim).toBeUndefined();
  const over = await submit({ verification: 'none' });
  await run(over.taskId, { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } });
  await expect(
    steerTask(deps, person('alvis'), over.taskId, { do: 'deadletter', reason }),
  ).rejects.toMatchObject({ code: 'BAD_TRANSITION' });
});

it('lets no agent give up what it does not hold', async () => {
  const { deps, submit } = queueMesh();
  const { taskId } = await submit();
  await expect(
    steerTask(deps, agentCaller('adolf'), taskId, { do: 'deadletter', reason: 'no' }),
  ).rejects.toMatchObject({ code: 'TRUST_DENIED' });
});

describe('another wording', () => {
  it('is what the run gets, and the submit that made the task still names it', async () => {
    const mesh = queueMesh();
    const request = { idempotencyKey: 'worded' };
    const { taskId } = await mesh.submit(request);
    const edit = { title: 'Audit all', body: 'Audit all logs.' };
    const edited = await steerTask(mesh.deps, person('alvis'), taskId, { do: 'edit', edit });
    expect(edited.task.intent).toEqual(edit);
    expect(await mesh.submit(request)).toMatchObject({ taskId, task: { intent: edit } });
  });

  it('is refused once somebody holds the task, and past what may stand inline', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const edit = (body: string) =>
      steerTask(mesh.deps, person('alvis'), taskId, { do: 'edit', edit: { body } });
    await expect(edit('ö'.repeat(limits.inlineBytes / 2 + 1))).rejects.toMatchObject({
      code: 'PAYLOAD_INLINE',
    });
    await edit('ö'.repeat(limits.inlineBytes / 2));
    await mesh.run(taskId, { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } });
    await expect(edit('Later.')).rejects.toMatchObject({ code: 'BAD_TRANSITION' });
  });
});

describe('an act of a person, taken in by two processes', () => {
  it('makes one event, whichever comes second', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const deps = { ...mesh.deps, token: '0123456789abcdef' };
    const pause = () => steerTask(deps, person('alvis'), taskId, { do: 'pause' });
    const [one, other] = await Promise.all([pause(), pause()]);
    expect([one.phase, other.phase]).toEqual(['paused', 'paused']);
    await steerTask(mesh.deps, person('alvis'), taskId, { do: 'resume' });
    expect(await pause()).toMatchObject({ phase: 'ready', version: 3 });
  });
});

describe('an ended task', () => {
  it('is done anew once, with the first words, beside the old one', async () => {
    const mesh = queueMesh();
    const { taskId: uid } = await mesh.submit();
    const principal = person('alvis');
    const again = (correction: string) => reworkTask(mesh.deps, { principal, uid, correction });
    await expect(again('Not yet.')).rejects.toMatchObject({ code: 'BAD_TRANSITION' });
    await cancelTask(mesh.deps, { principal, uid });
    const next = await again('It lacked a table.');
    expect(next.task).toMatchObject({ correction: 'It lacked a table.' });
    expect(next.task.provenance).toMatchObject({ relation: 'rework', depth: 0 });
    expect((await again('Other words.')).taskId).toBe(next.taskId);
    const state = await mesh.stateOf(uid);
    expect(state).toMatchObject({ phase: 'canceled', links: [{ relation: 'rework' }] });
    const stranger = { principal: person('nobody'), uid, correction: 'x' };
    await expect(reworkTask(mesh.deps, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
