import { describe, expect, it } from 'vitest';
import type { Question } from '../../fabric/domain/task.ts';
import { transition } from '../../fabric/domain/transition.ts';
import type { AskedByRun, RunEnd } from '../../fabric/ports/run-task.ts';
import { answerQuestion } from '../../fabric/queue/answer.ts';
import { steerTask } from '../../fabric/queue/steer.ts';
import { questionTo } from '../support/board-builders.ts';
import { agentCaller, person, queueMesh } from '../support/queue-mesh.ts';
import { rightEvent } from '../support/right-event.ts';
import { after, taskIn } from '../support/task-in-phase.ts';

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

describe('a question about a deadline or a size', () => {
  const about = (kind: Question['kind'], phase: 'ready' | 'working') => {
    const state = taskIn(phase);
    const question = questionTo(['alvis'], { kind, options: ['1', 'go on', 'cancel'] });
    return after(state, rightEvent(state, 'asked', { question }));
  };
  const kinds = ['question', 'gate', 'escalation', 'rating', 'deadline', 'promotion'] as const;

  it.each(kinds)('and no other one leaves the task open to edits: %s', (kind) => {
    const asked = about(kind, kind === 'rating' || kind === 'deadline' ? 'ready' : 'working');
    const edited = transition(asked, rightEvent(asked, 'edited', { deadlineAtMs: 2e12 }));
    expect(edited.ok).toBe(kind === 'rating' || kind === 'deadline');
  });

  it('is not answered by an edit, and takes the edit along', () => {
    const asked = about('deadline', 'ready');
    const edited = after(asked, rightEvent(asked, 'edited', { deadlineAtMs: 2e12 }));
    expect(edited).toMatchObject({ phase: 'input-required', question: asked.question });
    const value = 'go on';
    const { decisionId } = asked.question!;
    const open = after(edited, rightEvent(edited, 'answered', { decisionId, value }));
    expect(open).toMatchObject({ phase: 'ready', deadlineAtMs: 2e12 });
  });
});

describe('an unrated task whose tier would come from its score', () => {
  it.each([
    ['auto', { kind: 'auto' }],
    ['constraints without a tier', { kind: 'constraints', need: { skill: 'audit' } }],
  ] as const)('asks at its submit: %s', async (_name, target) => {
    const { submit } = queueMesh();
    expect(await submit({ target })).toMatchObject({
      phase: 'input-required',
      question: { kind: 'rating', to: ['alvis'] },
    });
  });
});
