import { describe, expect, it } from 'vitest';
import { a2aViewOf, isResting, isTerminal, type A2aState } from '../../fabric/domain/a2a-state.ts';
import { takingRank } from '../../fabric/domain/order.ts';
import { phases, type Phase, type TaskState } from '../../fabric/domain/state.ts';
import type { Priority } from '../../fabric/domain/task.ts';
import { AgentId } from '../../fabric/domain/ids.ts';
import { after, afterKinds, taskIn } from '../support/task-in-phase.ts';
import { rightEvent } from '../support/right-event.ts';

/** Table 4.2 and 4.3: what everybody sees, with verification by a reviewer. */
const shown: Readonly<Record<Phase, A2aState>> = {
  suggested: 'SUBMITTED',
  submitted: 'SUBMITTED',
  ready: 'SUBMITTED',
  scheduled: 'SUBMITTED',
  paused: 'SUBMITTED',
  claimed: 'WORKING',
  working: 'WORKING',
  'waiting-event': 'WORKING',
  'input-required': 'INPUT_REQUIRED',
  'needs-review': 'INPUT_REQUIRED',
  done: 'WORKING',
  reviewing: 'WORKING',
  approved: 'WORKING',
  deploying: 'WORKING',
  'deploy-failed': 'WORKING',
  verified: 'COMPLETED',
  refused: 'FAILED',
  'dead-letter': 'FAILED',
  canceled: 'CANCELED',
  rejected: 'REJECTED',
  split: 'REJECTED',
  archived: 'CANCELED',
};

describe('our states in A2A’s words', () => {
  it.each(phases)('%s', (phase) => {
    expect(a2aViewOf(taskIn(phase))).toMatchObject({ state: shown[phase], phase });
  });

  it('never goes back to SUBMITTED once it was claimed', () => {
    for (const kind of ['released', 'expired'] as const) {
      expect(a2aViewOf(afterKinds(taskIn('claimed'), kind)).state).toBe('WORKING');
    }
    for (const kind of ['failed', 'parked', 'deferred', 'released', 'expired'] as const) {
      expect(a2aViewOf(afterKinds(taskIn('working'), kind)).state).toBe('WORKING');
    }
    const back = afterKinds(taskIn('working'), 'revokeRequested', 'revoked');
    expect(a2aViewOf(back)).toMatchObject({ state: 'WORKING', phase: 'submitted' });
  });

  it('completes at done where nobody verifies, and stays completed', () => {
    const done = taskIn('done', { verification: 'none' });
    expect(a2aViewOf(done)).toMatchObject({ state: 'COMPLETED', verification: 'unverified' });
    const verified = a2aViewOf(afterKinds(done, 'verified'));
    expect(verified).toMatchObject({ state: 'COMPLETED', verification: 'verified' });
    const archived = a2aViewOf(afterKinds(done, 'archived'));
    expect(archived).toMatchObject({ state: 'COMPLETED', phase: 'archived' });
    expect(a2aViewOf(afterKinds(taskIn('dead-letter'), 'archived')).state).toBe('FAILED');
  });

  it('asks those who may verify, and tells the others for whom it waits', () => {
    const done = taskIn('done');
    expect(a2aViewOf(done, true)).toMatchObject({ state: 'INPUT_REQUIRED', ask: 'verify' });
    expect(a2aViewOf(done)).toMatchObject({ state: 'WORKING', awaiting: 'verification' });
    expect(a2aViewOf(taskIn('done', { tainted: true })).awaiting).toBe('human');
    expect(a2aViewOf(taskIn('reviewing'), true).state).toBe('WORKING');
  });

  it('says why', () => {
    expect(a2aViewOf(taskIn('needs-review'))).toMatchObject({
      reason: 'uncertain',
      ask: 'reconcile',
    });
    expect(a2aViewOf(taskIn('refused')).reason).toBe('verification-refused');
    expect(a2aViewOf(taskIn('split')).reason).toBe('split');
    expect(a2aViewOf(taskIn('input-required')).ask).toBe('question');
  });

  it('lets a waiting call return at ends, questions and done', () => {
    const resting = phases.filter((phase) => isResting(a2aViewOf(taskIn(phase))));
    expect(resting).toEqual([
      'input-required',
      'needs-review',
      'done',
      'verified',
      'refused',
      'dead-letter',
      'canceled',
      'rejected',
      'split',
      'archived',
    ]);
    const ended = phases.filter((phase) => isTerminal(shown[phase]));
    expect(ended).toEqual(resting.slice(3));
  });
});

describe('order of taking', () => {
  const rank = (priority: Priority, isOwn: boolean) => {
    const state = { ...taskIn('ready', { priority }), agentId: AgentId.parse('adolf') };
    return takingRank(isOwn ? afterKinds(state, 'claimed', 'started', 'expired') : state);
  };

  it('is 1, own work in progress, 2, 0, 3', () => {
    expect(([1, 2, 0, 3] as const).map((priority) => rank(priority, false))).toEqual([0, 4, 6, 8]);
    expect(([1, 2, 0, 3] as const).map((priority) => rank(priority, true))).toEqual([0, 2, 2, 2]);
  });

  it('knows work in progress by its last start, of its own agent', () => {
    const ready = taskIn('ready', { priority: 3 });
    const mine = { ...ready, agentId: AgentId.parse('berta') };
    expect(takingRank(afterKinds(mine, 'claimed', 'started', 'expired'))).toBe(8);
    const claimedOnly = { ...ready, agentId: AgentId.parse('adolf') };
    expect(takingRank(afterKinds(claimedOnly, 'claimed', 'expired'))).toBe(8);
  });

  it('puts what has its last attempt left behind the others of its priority', () => {
    const lose = (state: TaskState) => afterKinds(state, 'claimed', 'started', 'expired');
    const state = { ...taskIn('ready', { priority: 2 }), agentId: AgentId.parse('adolf') };
    expect([takingRank(lose(state)), takingRank(lose(lose(state)))]).toEqual([2, 5]);
  });

  it('follows an edit', () => {
    const state = taskIn('ready', { priority: 3 });
    expect(takingRank(after(state, rightEvent(state, 'edited', { priority: 1 })))).toBe(0);
  });
});
