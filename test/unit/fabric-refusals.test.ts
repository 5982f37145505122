import { expect, it } from 'vitest';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { cancelTask } from '../../fabric/queue/cancel.ts';
import { steerTask, type Steering } from '../../fabric/queue/steer.ts';
import { person, queueMesh } from '../support/queue-mesh.ts';

const principal = person('alvis');

it('lists the options to who answers with none of them', async () => {
  const { deps, submit, run } = queueMesh();
  const { taskId } = await submit();
  const asked = await run(taskId, {
    kind: 'asked',
    question: { kind: 'gate', to: 'human', text: 'Now?', options: ['yes', 'not yet'] },
  });
  const { decisionId } = asked.question!;
  await expect(
    answerQuestion(deps, { principal, uid: taskId, decisionId, value: 'no' }),
  ).rejects.toThrow('Answer with one of: "yes", "not yet".');
});

it('names the ways out of a dead letter to who would go on with it', async () => {
  const { deps, submit } = queueMesh();
  const { taskId } = await submit();
  const steer = (steering: Steering) => steerTask(deps, principal, taskId, steering);
  await steer({ do: 'deadletter', reason: 'gone' });
  for (const vain of [
    () => cancelTask(deps, { principal, uid: taskId }),
    () => steer({ do: 'resume' }),
    () => steer({ do: 'pause' }),
    () => steer({ do: 'admit' }),
    () => steer({ do: 'deadletter', reason: 'again' }),
  ]) {
    await expect(vain()).rejects.toThrow(/Submit it again.+`mesh submit`.+`mesh task archive`/);
  }
  expect((await steer({ do: 'archive' })).phase).toBe('archived');
});
