import { describe, expect, it } from 'vitest';
import { wishOf } from '../../agents/runtimes/task-text.ts';
import { ContextRef } from '../../fabric/domain/context-ref.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Constraints } from '../../fabric/domain/task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { routeTask } from '../../fabric/queue/route.ts';
import type { SubmitRequest } from '../../fabric/queue/submit-request.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { agent } from '../support/board-builders.ts';
import { agentCaller, person, queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const alvis = person('alvis');
const outcome = { summary: 'Done.', artifacts: [] };
/** Everything a submit can say that must not get lost on the way to the next task. */
const said: Partial<SubmitRequest> = {
  parts: [{ text: 'Audit the log.' }, { url: 'https://example.org/a.png' }],
  acceptance: 'Every finding names a line.',
  contextRefs: [ContextRef.parse('file:notes.md')],
  ...{ effects: 'workspace', priority: 1, score: 8, verification: 'human' },
};
const carried = ({ task, priority, score }: TaskState) => ({
  ...{ parts: task.parts, acceptance: task.acceptance, contextRefs: task.contextRefs },
  ...{ effects: task.effects, verification: task.verification, priority, score },
});

describe('a refusal with rework', () => {
  const refusal = { principal: alvis, verdict: 'refused', rework: true } as const;
  const finished = async ({ submit, run }: QueueMesh, more: Partial<SubmitRequest> = {}) =>
    run((await submit({ ...said, ...more })).taskId, { kind: 'done', outcome });

  it('names its rework, which has all of the task and says what was missing', async () => {
    const mesh = queueMesh();
    const { taskId: uid } = await finished(mesh);
    const refused = await verifyTask(mesh.deps, { ...refusal, uid, note: 'No lines.' });
    expect(refused).toMatchObject({ phase: 'refused', verdict: { note: 'No lines.' } });
    const rework = await mesh.stateOf(refused.reworkedAs!);
    expect(refused.links).toEqual([{ relation: 'rework', taskId: rework.taskId }]);
    expect(carried(rework)).toEqual(carried(refused));
    expect(rework.task).toMatchObject({
      ...{ correction: 'No lines.', intent: { body: 'Audit the log.' } },
      provenance: { relation: 'rework', parent: uid, interlocutor: 'alvis' },
    });
    expect(wishOf(rework)).toContain('No lines.');
  });

  it('fits whatever the first submit and the note hold', async () => {
    const mesh = queueMesh();
    const body = 'x'.repeat(limits.inlineBytes);
    const { taskId: uid } = await finished(mesh, { intent: { title: 'Long', body } });
    const note = 'y'.repeat(limits.answerChars);
    const refused = await verifyTask(mesh.deps, { ...refusal, uid, note });
    expect((await mesh.stateOf(refused.reworkedAs!)).task.correction).toBe(note);
  });

  it('refuses nothing where the rework can’t be submitted', async () => {
    const mesh = queueMesh({ id: 'helper' }, { id: 'checker', mayCall: ['helper'] });
    const principal = agentCaller('checker');
    const checker = {
      ...principal,
      scopes: new Set([...principal.scopes, 'tasks:verify'] as const),
    };
    const target = { kind: 'agent', agentId: AgentId.parse('helper') } as const;
    const { taskId: uid } = await finished(mesh, { principal, target, verification: 'submitter' });
    mesh.reload({ id: 'checker', mayCall: [] });
    const asked = { ...refusal, principal: checker, uid, note: 'No lines.' };
    await expect(verifyTask(mesh.deps, asked)).rejects.toMatchObject({ code: 'TRUST_DENIED' });
    expect((await mesh.stateOf(uid)).phase).toBe('done');
  });

  it('is the same when it is said again, in other words too', async () => {
    const mesh = queueMesh();
    const { taskId: uid } = await finished(mesh);
    const first = await verifyTask(mesh.deps, { ...refusal, uid, note: 'No lines.' });
    const again = await verifyTask(mesh.deps, { ...refusal, uid, note: 'Still no lines.' });
    expect(again).toEqual(first);
  });
});

describe('a verdict that contradicts itself', () => {
  it.each([
    ['a rework of what is verified', { verdict: 'verified', rework: true }, 'rework'],
    ['the same with a note', { verdict: 'verified', rework: true, note: 'No lines.' }, 'rework'],
    ['a refusal without a word', { verdict: 'refused' }, 'note'],
    ['a rework without a word', { verdict: 'refused', rework: true, note: '' }, 'note'],
  ] as const)('closes nothing: %s', async (_name, verdict, path) => {
    const mesh = queueMesh();
    const { taskId: uid } = await mesh.submit();
    await mesh.run(uid, { kind: 'done', outcome });
    await expect(
      verifyTask(mesh.deps, { principal: alvis, uid, ...verdict }),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR', facts: { path } });
    expect((await mesh.stateOf(uid)).phase).toBe('done');
  });
});

describe('a wider tier', () => {
  const widened = async (need: Constraints) => {
    const mesh = queueMesh();
    const { deps, submit, run, stateOf, clock } = mesh;
    const target = { kind: 'constraints', need } as const;
    const deadlineAtMs = clock.nowMs() + 86_400_000;
    const { taskId: uid } = await submit({ ...said, target, deadlineAtMs });
    const selection = { source: 'router', tier: 'small' } as const;
    const chosen = { ...deps.directory.agent('adolf')!, selection };
    await routeTask(deps, agent('router'), uid, chosen);
    const asked = await run(uid, { kind: 'failed', reason: 'too hard', retryable: false });
    const { decisionId } = asked.question!;
    const ended = await answerQuestion(deps, {
      ...{ principal: alvis, uid, decisionId, value: 'wider-tier' },
    });
    return { ended, next: await stateOf(ended.links[0]!.taskId) };
  };

  it.each([
    ['a tier', { tier: 'small' }],
    [
      'all of it',
      { tier: 'small', skill: 'audit', tools: true, trust: 'trusted', cost: ['free-local'] },
    ],
  ] as const)('keeps what the target had to have: %s', async (_name, need) => {
    const { ended, next } = await widened({ ...need } as Constraints);
    expect(next.task.target).toEqual({ kind: 'constraints', need: { ...need, tier: 'medium' } });
    expect(ended.phase).toBe('canceled');
  });

  it('keeps effects, priority and deadline', async () => {
    const { ended, next } = await widened({ tier: 'small' });
    expect(next.deadlineAtMs).toBe(ended.deadlineAtMs);
    expect({ ...carried(next), score: 8 }).toEqual(carried(ended));
  });
});
