import { describe, expect, it } from 'vitest';
import { AgentId, Fence } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { routeTask } from '../../fabric/queue/route.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { agent } from '../support/board-builders.ts';
import { agentCaller, person, queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const target = { kind: 'constraints', need: { tier: 'small' } } as const;
const pinned = (id: string) => ({ kind: 'agent' as const, agentId: AgentId.parse(id) });
const routeTo = ({ deps }: QueueMesh, { taskId }: TaskState, id: string) =>
  routeTask(deps, agent('router'), taskId, { agentId: AgentId.parse(id) });

/** sales may call the router and adolf; strict admits nobody but people. */
const mesh = () =>
  queueMesh(
    { id: 'sales', mayCall: ['router', 'adolf'] },
    { id: 'forbidden' },
    { id: 'strict', admit: ['human'] },
    { id: 'outward', effects: 'external' },
    { id: 'guest', trust: 'sandboxed' },
  );

describe('a task without a named agent is held to the rules of one with', () => {
  it.each(['pinned', 'routed'] as const)('mayCall: %s', async (how) => {
    const one = mesh();
    const principal = agentCaller('sales');
    const to = (id: string): Promise<TaskState> =>
      how === 'pinned'
        ? one.submit({ principal, target: pinned(id) })
        : one.submit({ principal, target }).then((state) => routeTo(one, state, id));
    await expect(to('forbidden')).rejects.toMatchObject({
      code: 'TRUST_DENIED',
      facts: { path: 'mayCall', agentId: 'sales' },
    });
    expect((await to('adolf')).agentId).toBe('adolf');
  });

  it.each(['pinned', 'routed'] as const)('no cycle: %s', async (how) => {
    const one = mesh();
    const above = await one.submit();
    const run = { taskId: above.taskId, fence: Fence.parse(2) };
    const below = { principal: agentCaller('adolf', { run }) };
    const to = (id: string): Promise<TaskState> =>
      how === 'pinned'
        ? one.submit({ ...below, target: pinned(id) })
        : one.submit({ ...below, target }).then((state) => routeTo(one, state, id));
    await expect(to('adolf')).rejects.toMatchObject({ code: 'CYCLE_DETECTED' });
    expect((await to('outward')).task.provenance.ancestors).toEqual(['adolf']);
  });

  it.each(['pinned', 'routed'] as const)('admission: %s', async (how) => {
    const one = mesh();
    const principal = agentCaller('adolf');
    const to = async (id: string): Promise<TaskState> =>
      how === 'pinned'
        ? one.submit({ principal, target: pinned(id) })
        : routeTo(one, await one.submit({ principal, target }), id);
    const waiting = await to('strict');
    expect(waiting).toMatchObject({ phase: 'submitted', agentId: 'strict', queue: 'strict' });
    expect(waiting.task.admitted).toBe(false);
    const policy = one.deps.directory.agent('strict')!;
    expect(await one.deps.board.list(policy.queue, one.clock.nowMs(), 10)).toEqual([]);
    const { taskId } = waiting;
    const admitted = await steerTask(one.deps, person('alvis'), taskId, { do: 'admit' });
    expect(admitted.phase).toBe('ready');
    expect((await to('sales')).phase).toBe('ready');
  });
});

describe('admission at the router', () => {
  it('by a person holds for whoever is chosen then', async () => {
    const one = mesh();
    const principal = agentCaller('guest', { trust: 'sandboxed' });
    const waiting = await one.submit({ principal, target });
    expect(waiting.phase).toBe('submitted');
    const { taskId } = waiting;
    const admitted = await steerTask(one.deps, person('alvis'), taskId, { do: 'admit' });
    expect(await routeTo(one, admitted, 'strict')).toMatchObject({ phase: 'ready' });
  });

  it('is not made up for by the chosen agent’s: a tainted or unknown task goes on waiting', async () => {
    const one = queueMesh(
      { id: 'open', admit: ['human', 'trusted', 'sandboxed'] },
      { id: 'guest' },
    );
    const principal = agentCaller('guest', { trust: 'sandboxed' });
    const waiting = await one.submit({ principal, target });
    expect(await routeTo(one, waiting, 'open')).toMatchObject({ phase: 'submitted' });
  });

  it('puts a scheduled task back too', async () => {
    const one = mesh();
    const notBeforeAtMs = one.clock.nowMs() + 60_000;
    const principal = agentCaller('adolf');
    const scheduled = await one.submit({ principal, target, notBeforeAtMs });
    expect(scheduled.phase).toBe('scheduled');
    expect(await routeTo(one, scheduled, 'strict')).toMatchObject({ phase: 'submitted' });
  });
});

it('chooses nobody whom no Card names', async () => {
  const one = mesh();
  await expect(routeTo(one, await one.submit({ target }), 'nobody')).rejects.toMatchObject({
    code: 'NO_TARGET',
  });
});
