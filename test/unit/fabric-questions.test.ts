import { describe, expect, it } from 'vitest';
import type { AskedByRun, RunEnd } from '../../fabric/ports/run-task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { agentCaller, person, queueMesh } from '../support/queue-mesh.ts';

describe('a question goes to somebody who may answer it', () => {
  const asked = (kind: AskedByRun['kind']): RunEnd => ({
    kind: 'asked',
    question: { kind, to: 'submitter', text: 'Which?', options: [] },
  });

  it.each([
    ['a clarification', 'question', {}, 'helper'],
    ['a gate', 'gate', {}, 'alvis'],
    ['an escalation', 'escalation', {}, 'alvis'],
    ['a clarification of outward work', 'question', { effects: 'external' }, 'alvis'],
    ['a clarification of an untrusted task', 'question', { untrusted: true }, 'alvis'],
  ] as const)('%s', async (_name, kind, how, addressee) => {
    const { deps, submit, run } = queueMesh({ id: 'helper' });
    const trust = 'untrusted' in how ? 'untrusted' : 'trusted';
    const principal = agentCaller('helper', { trust });
    const effects = 'effects' in how ? how.effects : 'none';
    const task = await submit({ principal, effects });
    if (task.phase !== 'ready') {
      await steerTask(deps, person('alvis'), task.taskId, { do: 'admit' });
    }
    const state = await run(task.taskId, asked(kind));
    expect(state.question?.to).toEqual([addressee]);
    const by = addressee === 'helper' ? principal : person(addressee);
    const { decisionId } = state.question!;
    const after = await answerQuestion(deps, {
      ...{ principal: by, uid: task.taskId, decisionId, value: 'The first.' },
    });
    expect(after.phase).toBe('ready');
  });
});
