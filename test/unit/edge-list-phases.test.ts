import { describe, expect, it } from 'vitest';
import { phasesShownAs } from '../../agents/a2a/list-tasks.ts';
import { a2aViewOf } from '../../fabric/domain/a2a-state.ts';
import { phases } from '../../fabric/domain/state.ts';
import { taskIn } from '../support/task-in-phase.ts';

describe('the first sieve of a list', () => {
  it.each(phases)('lets %s pass in every state that it can show', (phase) => {
    for (const everWorked of [true, false]) {
      for (const verification of ['none', 'submitter'] as const) {
        for (const mayVerify of [true, false]) {
          const made = taskIn(phase);
          const state = { ...made, everWorked, task: { ...made.task, verification } };
          expect(phasesShownAs[a2aViewOf(state, mayVerify).state]).toContain(phase);
        }
      }
    }
  });
});
