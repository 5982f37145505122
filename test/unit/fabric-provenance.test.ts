import { describe, expect, it } from 'vitest';
import { AgentId, Fence } from '../../fabric/domain/ids.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { agentCaller, person, queueMesh } from '../support/queue-mesh.ts';

const helper = { kind: 'agent', agentId: AgentId.parse('helper') } as const;
const adolf = agentCaller('adolf');

describe('the human that a task is done for', () => {
  const parentOf = async () => {
    const mesh = queueMesh({ id: 'helper' });
    const parent = await mesh.submit({ principal: person('carla') });
    const policy = mesh.deps.directory.agent('adolf')!;
    const claim = () =>
      claimTask(mesh.deps, parent.taskId, { policy, incarnation: 'test', startNow: true });
    return { ...mesh, parent, claim };
  };

  it('comes from the run’s own token', async () => {
    const { submit, parent } = await parentOf();
    const run = { taskId: parent.taskId, fence: Fence.parse(2) };
    const child = await submit({ principal: agentCaller('adolf', { run }), target: helper });
    expect(child.task.provenance).toMatchObject({ interlocutor: 'carla', parent: parent.taskId });
  });

  it('comes from a task that the agent holds now', async () => {
    const { submit, parent, claim } = await parentOf();
    await claim();
    const child = await submit({ principal: adolf, target: helper, parent: parent.taskId });
    expect(child.task.provenance.interlocutor).toBe('carla');
  });

  it('never comes from a task that an agent merely names', async () => {
    const { submit, run, parent } = await parentOf();
    const outcome = { summary: 'Done.', artifacts: [] };
    await run(parent.taskId, { kind: 'done', outcome });
    const later = await submit({ principal: adolf, target: helper, parent: parent.taskId });
    expect(later.task.provenance).toMatchObject({ parent: parent.taskId, submitter: 'adolf' });
    expect(later.task.provenance.interlocutor).toBeUndefined();
  });

  it('is the person who submits, whatever they name', async () => {
    const { submit, parent } = await parentOf();
    const own = await submit({
      ...{ principal: person('carla'), target: helper, parent: parent.taskId },
    });
    expect(own.task.provenance.interlocutor).toBe('carla');
  });
});

describe('the creation quota', () => {
  it('holds however many submits come at once', async () => {
    const { deps, submit } = queueMesh({ id: 'helper', createdPerHour: 3 });
    const principal = agentCaller('helper');
    const answers = await Promise.allSettled(
      Array.from({ length: 40 }, () => submit({ principal })),
    );
    const refused = answers.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(37);
    for (const answer of refused) {
      expect(answer).toMatchObject({ reason: { code: 'QUOTA_EXCEEDED' } });
    }
    expect((await deps.board.find({ limit: 50 })).total).toBe(3);
  });

  it('is not spent by the same submit again, at once or later', async () => {
    const { submit } = queueMesh({ id: 'helper', createdPerHour: 1 });
    const same = { principal: agentCaller('helper'), idempotencyKey: 'once' };
    const answers = await Promise.all([submit(same), submit(same), submit(same)]);
    expect(new Set(answers.map(({ taskId }) => taskId)).size).toBe(1);
    expect((await submit(same)).taskId).toBe(answers[0].taskId);
  });

  it('has room again after the hour, and one agent’s wait is not another’s', async () => {
    const { clock, submit } = queueMesh({ id: 'helper', createdPerHour: 1 }, { id: 'other' });
    const principal = agentCaller('helper');
    await submit({ principal });
    await expect(submit({ principal })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await submit({ principal: agentCaller('other') });
    await clock.advance(3_600_001);
    await submit({ principal });
  });
});
