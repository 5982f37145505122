import { describe, expect, it, vi } from 'vitest';
import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import { DecisionId } from '../../fabric/domain/ids.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import type { QueueDeps } from '../../fabric/queue/deps.ts';
import { noteMessage } from '../../fabric/queue/steer.ts';
import { verifyTask } from '../../fabric/queue/verify.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';

const principal = person('alvis');
const decisionId = DecisionId.parse('d-0123456789abcdef');

/** What is asked twice, and the state of the task the first time. */
const repeats: Readonly<Record<string, (deps: QueueDeps, state: TaskState) => Promise<unknown>>> = {
  'an answer': (deps, { taskId: uid, question, decisions }) =>
    answerQuestion(deps, {
      ...{ principal, uid, value: 'This.' },
      decisionId: question?.decisionId ?? decisions[0]?.decisionId ?? decisionId,
    }),
  'a verdict': (deps, { taskId: uid }) => verifyTask(deps, { principal, uid, verdict: 'verified' }),
  'a cancel': (deps, { taskId: uid }) => cancelTask(deps, { principal, uid }),
  'a message': (deps, { taskId }) =>
    noteMessage(deps, principal, taskId, { messageId: 'm-1', text: 'And the appendix?' }),
};

const asked = {
  kind: 'question',
  to: 'submitter',
  text: 'Which?',
  options: [] as string[],
} as const;

/** A mesh whose board shows what is not durable yet, with a task that takes `what`. */
async function repeated(what: string) {
  const mesh = queueMesh();
  const { taskId } = await mesh.submit();
  if (what === 'an answer') await mesh.run(taskId, { kind: 'asked', question: asked });
  if (what === 'a verdict') {
    await mesh.run(taskId, { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } });
  }
  await repeats[what]!(mesh.deps, await mesh.stateOf(taskId));
  return { ...mesh, taskId, flush: vi.spyOn(mesh.deps.board, 'flush') };
}

describe('what is repeated is acknowledged only once the first of it is durable:', () => {
  it.each(Object.keys(repeats))('%s', async (what) => {
    const { deps, flush, stateOf, taskId } = await repeated(what);
    const before = await stateOf(taskId);
    flush.mockRejectedValueOnce(new BoardUnavailableError('the group was lost'));
    await expect(repeats[what]!(deps, before)).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    await repeats[what]!(deps, before);
    expect(flush).toHaveBeenCalledTimes(2);
    expect((await stateOf(taskId)).version).toBe(before.version);
  });

  it('a submit, unless its caller waits for its end anyway', async () => {
    const { deps, submit } = queueMesh();
    const flush = vi.spyOn(deps.board, 'flush');
    const first = await submit({ idempotencyKey: 'once' });
    expect(flush).not.toHaveBeenCalled();
    flush.mockRejectedValueOnce(new BoardUnavailableError('the group was lost'));
    await expect(submit({ idempotencyKey: 'once' })).rejects.toMatchObject({
      code: 'FABRIC_DOWN',
    });
    expect(await submit({ idempotencyKey: 'once', durability: 'buffered' })).toEqual(first);
    expect(flush).toHaveBeenCalledTimes(1);
    expect(await submit({ idempotencyKey: 'once' })).toEqual(first);
    expect(flush).toHaveBeenCalledTimes(2);
  });
});
