import { describe, expect, it } from 'vitest';
import { ContextRef } from '../../fabric/domain/context-ref.ts';
import { AgentId, Fence } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Outcome } from '../../fabric/domain/task.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { agentCaller, person, queueMesh, type QueueMesh } from '../support/queue-mesh.ts';

const stored = `artifact:${'a'.repeat(64)}`;
const done = (outcome: Partial<Outcome> = {}): RunEnd => ({
  kind: 'done',
  outcome: { summary: 'Done.', artifacts: [], ...outcome },
});
const withArtifact = done({
  artifacts: [{ artifactId: 'answer', mediaType: 'text/plain', ref: stored, bytes: 9_000 }],
});
const at = (id: string) => ({ target: { kind: 'agent' as const, agentId: AgentId.parse(id) } });
const mesh = () => queueMesh({ id: 'stranger', trust: 'untrusted' }, { id: 'loner', mayCall: [] });

const finished = async ({ submit, run }: QueueMesh, agentId: string): Promise<TaskState> =>
  run((await submit(at(agentId))).taskId, withArtifact);

async function admitted({ deps }: QueueMesh, state: TaskState): Promise<TaskState> {
  return steerTask(deps, person('alvis'), state.taskId, { do: 'admit' });
}

describe('a result is tainted', () => {
  it.each([
    ['of an untrusted agent', 'stranger', true],
    ['of a trusted one', 'adolf', false],
  ] as const)('%s: %s %s', async (_name, agentId, tainted) => {
    const state = await finished(mesh(), agentId);
    expect(state.outcome?.tainted ?? false).toBe(tainted);
    expect(state.needsHumanVerify).toBe(tainted);
  });

  it('of a tainted task, whoever does it', async () => {
    const one = mesh();
    const principal = agentCaller('stranger', { trust: 'untrusted' });
    const { taskId } = await admitted(one, await one.submit({ principal, ...at('loner') }));
    expect((await one.run(taskId, done())).outcome?.tainted).toBe(true);
  });

  it.each([
    ['stranger', true],
    ['loner', false],
  ] as const)('where a child’s was: %s %s', async (agentId, tainted) => {
    const one = mesh();
    const parent = await one.submit();
    const run = { taskId: parent.taskId, fence: Fence.parse(2) };
    const child = await one.submit({ principal: agentCaller('adolf', { run }), ...at(agentId) });
    await one.run(child.taskId, done());
    expect((await one.run(parent.taskId, done())).outcome?.tainted ?? false).toBe(tainted);
  });
});

describe('what is made from it is tainted and waits for a person', () => {
  const uses: readonly (readonly [string, (from: TaskState) => object])[] = [
    ['as its parent', ({ taskId: parent }) => ({ parent })],
    ['as a task ref', ({ taskId }) => ({ contextRefs: [ContextRef.parse(`task:${taskId}`)] })],
    ['as an artifact', () => ({ contextRefs: [ContextRef.parse(stored)] })],
  ];

  it.each(uses)('%s', async (_name, use) => {
    const one = mesh();
    const clean = await one.submit({ ...at('loner'), ...use(await finished(one, 'adolf')) });
    expect(clean).toMatchObject({ phase: 'ready', task: { tainted: false } });
    const tainted = await one.submit({ ...at('loner'), ...use(await finished(one, 'stranger')) });
    expect(tainted).toMatchObject({ phase: 'suggested', priority: 3, task: { tainted: true } });
  });

  it('and tells nobody about a task that they may not see', async () => {
    const one = mesh();
    const { taskId } = await finished(one, 'stranger');
    const contextRefs = [ContextRef.parse(`task:${taskId}`), ContextRef.parse(stored)];
    const blind = await one.submit({ principal: person('mallory'), contextRefs });
    expect(blind.task.tainted).toBe(false);
  });
});
