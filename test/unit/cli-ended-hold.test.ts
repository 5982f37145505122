import { describe, expect, it } from 'vitest';
import { endedBefore, type Ending } from '../../cli/ended-hold.ts';
import type { MeshConnection } from '../../cli/mesh-connection.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import type { ResultArtifact } from '../../fabric/domain/task.ts';
import { claimTask, releaseTask } from '../../fabric/queue/claim.ts';
import { finishRun } from '../../fabric/queue/finish.ts';
import { queueMesh } from '../support/queue-mesh.ts';

const file = (text: string): ResultArtifact => ({
  ...{ artifactId: 'a.md', mediaType: 'text/markdown', text, bytes: text.length },
});
const done = (summary: string, ...artifacts: ResultArtifact[]): Ending => ({
  ...{ kind: 'done', outcome: { summary, artifacts } },
});
const asked = (text: string): Ending => ({
  kind: 'asked',
  question: { text, options: [], to: 'submitter', kind: 'question' },
});
const failed = (reason: string): Ending => ({ kind: 'failed', reason, retryable: true });
const escalated: Ending = { kind: 'failed', reason: 'too hard', retryable: false };
const parked = (reason: string): Ending => ({ kind: 'parked', reason });
const released = (reason: string): Ending => ({ kind: 'released', reason });

/** A task that adolf took with a fence and ended so. */
async function ended(end: Ending) {
  const mesh = queueMesh();
  const { taskId } = await mesh.submit();
  const policy = { agentId: AgentId.parse('adolf'), leaseMs: 60_000 };
  const held = (await claimTask(mesh.deps, taskId, { policy, incarnation: 'x', startNow: true }))!;
  const state = await (end.kind === 'released'
    ? releaseTask(mesh.deps, held, end.reason)
    : finishRun(mesh.deps, held, end));
  const connection = { board: mesh.deps.board } as MeshConnection;
  const again = (said: Ending, options: object = { fence: held.fence }) =>
    endedBefore(connection, taskId, options, said);
  return { state, again };
}

describe('the end of a run, said again with the same fence', () => {
  it.each([
    ['done', done('All is well', file('x')), done('All is well', file('y'))],
    ['done, without a file', done('All is well'), done('All is lost')],
    ['ask', asked('Which one?'), asked('Which other one?')],
    ['fail', failed('a time-out'), failed('exit code 1')],
    ['escalate', escalated, failed('too hard')],
    ['park', parked('the quota'), parked('the lab')],
    ['release', released('this machine goes down'), done('All is well')],
  ])('changes nothing, and another end is refused: %s', async (_verb, end, other) => {
    const { state, again } = await ended(end);
    expect(await again(end)).toEqual(state);
    await expect(again(other)).rejects.toMatchObject({
      code: 'RECEIPT_CONFLICT',
      message: expect.stringContaining('is on record') as string,
    });
  });

  it('is not known of another fence, of another agent, or without a fence', async () => {
    const { again } = await ended(done('All is well'));
    for (const options of [{ fence: 99 }, { fence: 2, agent: 'berta' }, { agent: 'adolf' }]) {
      expect(await again(done('All is well'), options)).toBeUndefined();
    }
  });
});
