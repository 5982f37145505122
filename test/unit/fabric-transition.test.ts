import { describe, expect, it } from 'vitest';
import type { TaskEventKind } from '../../fabric/domain/events.ts';
import { Fence, PrincipalId } from '../../fabric/domain/ids.ts';
import { phases, type Phase, type TaskState } from '../../fabric/domain/state.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { builtAtMs } from '../support/board-builders.ts';
import { cast, eventKinds, rightEvent, rightEventOf } from '../support/right-event.ts';
import { after, afterKinds, taskIn } from '../support/task-in-phase.ts';

type Row = Partial<Record<TaskEventKind, Phase>>;

const records = (phase: Phase): Row => ({ noted: phase, linked: phase, receipted: phase });
/** Evidence may still be added to what has ended; nothing else. */
const evidence = (phase: Phase): Row => ({ linked: phase, receipted: phase });
const steered = (phase: Phase): Row => ({ edited: phase, routed: phase, paused: 'paused' });

/**
 * The whole table 4.4 for a workspace task that a reviewer verifies: from (row), event, to. What a row
 * does not name is refused, whoever sends it.
 */
const table: Readonly<Record<Phase, Row>> = {
  suggested: {
    ...steered('suggested'),
    admitted: 'ready',
    archived: 'archived',
    ...records('suggested'),
  },
  submitted: {
    ...steered('submitted'),
    admitted: 'ready',
    asked: 'input-required',
    canceled: 'canceled',
    archived: 'archived',
    ...records('submitted'),
  },
  ready: {
    ...steered('ready'),
    claimed: 'claimed',
    asked: 'input-required',
    canceled: 'canceled',
    deadLettered: 'dead-letter',
    archived: 'archived',
    ...records('ready'),
  },
  scheduled: {
    ...steered('scheduled'),
    claimed: 'claimed',
    asked: 'input-required',
    canceled: 'canceled',
    deadLettered: 'dead-letter',
    archived: 'archived',
    ...records('scheduled'),
  },
  paused: {
    edited: 'paused',
    resumed: 'ready',
    canceled: 'canceled',
    archived: 'archived',
    ...records('paused'),
  },
  claimed: {
    started: 'working',
    released: 'ready',
    expired: 'ready',
    revokeRequested: 'claimed',
    canceled: 'canceled',
    deadLettered: 'dead-letter',
    ...records('claimed'),
  },
  working: {
    released: 'ready',
    expired: 'ready',
    failed: 'ready',
    parked: 'ready',
    deferred: 'scheduled',
    asked: 'input-required',
    uncertain: 'needs-review',
    settled: 'done',
    revokeRequested: 'working',
    cancelRequested: 'working',
    deadLettered: 'dead-letter',
    ...records('working'),
  },
  'waiting-event': { canceled: 'canceled', ...records('waiting-event') },
  'input-required': {
    answered: 'ready',
    split: 'split',
    canceled: 'canceled',
    ...records('input-required'),
  },
  'needs-review': { answered: 'ready', canceled: 'canceled', ...records('needs-review') },
  done: {
    reviewStarted: 'reviewing',
    verified: 'verified',
    refused: 'refused',
    archived: 'archived',
    ...evidence('done'),
  },
  reviewing: { reviewed: 'approved', ...records('reviewing') },
  approved: { verified: 'verified', refused: 'refused', ...records('approved') },
  deploying: records('deploying'),
  'deploy-failed': records('deploy-failed'),
  verified: evidence('verified'),
  refused: evidence('refused'),
  'dead-letter': { archived: 'archived', ...records('dead-letter') },
  canceled: evidence('canceled'),
  rejected: evidence('rejected'),
  split: evidence('split'),
  archived: evidence('archived'),
};

const phaseAfter = (state: TaskState, kind: TaskEventKind): Phase | undefined => {
  const next = transition(state, rightEventOf(state, kind));
  return next.ok ? next.state.phase : undefined;
};

describe('the whole table of transitions', () => {
  it.each(phases)('from %s: the cells it names and no other', (phase) => {
    const state = taskIn(phase);
    expect(state.phase).toBe(phase);
    const cells = eventKinds.map((kind) => [kind, phaseAfter(state, kind)] as const);
    const allowed = Object.fromEntries(cells.filter(([, to]) => to !== undefined));
    expect(allowed).toEqual(table[phase]);
  });

  it('begins with a submit and with nothing else', () => {
    const state = taskIn('ready');
    for (const kind of eventKinds) {
      const next = transition(undefined, rightEventOf(state, kind));
      expect(next.ok, kind).toBe(kind === 'submitted');
    }
  });

  it('ends the claim with every event that leaves working, and keeps no wish of it', () => {
    for (const [kind, to] of Object.entries(table.working)) {
      if (to === 'working') continue;
      const next = after(taskIn('working'), rightEventOf(taskIn('working'), kind as TaskEventKind));
      expect(next.claim, kind).toBeUndefined();
      expect(next.revokeTo, kind).toBeUndefined();
    }
  });
});

describe('a run that acts outside', () => {
  const external = () => taskIn('working', { effects: 'external' });

  it.each(['released', 'expired', 'failed', 'parked', 'uncertain'] as const)(
    'goes to a person when it %s',
    (kind) => {
      const state = after(external(), rightEvent(external(), kind));
      expect(state.phase).toBe('needs-review');
      expect(state.question).toMatchObject({ kind: 'reconcile', to: [cast.human.id] });
    },
  );

  it('goes to a person when it is canceled or taken back', () => {
    expect(afterKinds(external(), 'cancelRequested', 'canceled').phase).toBe('needs-review');
    expect(afterKinds(external(), 'revokeRequested', 'revoked').phase).toBe('needs-review');
    expect(afterKinds(external(), 'cancelRequested', 'expired').phase).toBe('needs-review');
  });

  it('runs again when a person says so, also after a cancel', () => {
    const stopped = afterKinds(external(), 'cancelRequested', 'canceled');
    const again = after(stopped, rightEvent(stopped, 'answered', { value: 'ready' }));
    expect(again).toMatchObject({ phase: 'ready', cancelRequested: false });
  });

  it('is as before where nothing was started', () => {
    expect(afterKinds(taskIn('claimed', { effects: 'external' }), 'expired').phase).toBe('ready');
  });

  it.each([
    ['ready', 'ready'],
    ['done', 'done'],
    ['dead-letter', 'dead-letter'],
    ['canceled', 'canceled'],
  ])('follows the person who looked and said %s', (value, phase) => {
    const asked = afterKinds(external(), 'uncertain');
    const state = after(asked, rightEvent(asked, 'answered', { value, note: 'I looked.' }));
    expect(state.phase).toBe(phase);
    expect(state.attempts).toBe(value === 'ready' ? 0 : 1);
    if (phase === 'done') expect(state).toMatchObject({ outcome: { summary: 'I looked.' } });
    if (phase === 'done') expect(state.producer).toBe(cast.producer.id);
  });

  it('takes no other word and no other voice', () => {
    const asked = afterKinds(external(), 'uncertain');
    const refusal = (change: object) => transition(asked, rightEvent(asked, 'answered', change));
    expect(refusal({ value: 'maybe' })).toEqual({ ok: false, reason: 'notAnOption' });
    expect(refusal({ by: cast.stranger })).toEqual({ ok: false, reason: 'notAddressee' });
    const asAgent = { ...cast.human, role: 'agent' as const };
    expect(refusal({ by: asAgent })).toEqual({ ok: false, reason: 'humanOnly' });
  });
});

describe('whom a claim belongs to', () => {
  const held: readonly TaskEventKind[] = [
    'started',
    'released',
    'failed',
    'parked',
    'deferred',
    'asked',
    'uncertain',
    'settled',
  ];

  it.each(held)('%s: only at its own fence and by its holder', (kind) => {
    const state = taskIn(kind === 'started' ? 'claimed' : 'working');
    const right = rightEvent(state, kind);
    expect(transition(state, right).ok).toBe(true);
    const stale = { ...right, fence: Fence.parse(state.version + 7) };
    expect(transition(state, stale as typeof right)).toEqual({ ok: false, reason: 'staleFence' });
    const other = { ...right, by: cast.reviewer };
    expect(transition(state, other)).toEqual({ ok: false, reason: 'notHolder' });
  });

  it('gives each claim the version of its own event as fence', () => {
    const first = taskIn('claimed');
    const second = afterKinds(first, 'expired', 'claimed');
    expect([first.claim?.fence, second.claim?.fence]).toEqual([2, 4]);
  });

  it('lets the keeper, the fabric and the holder call it expired, nobody else', () => {
    const state = taskIn('working');
    const by = (author: (typeof cast)[keyof typeof cast]) =>
      transition(state, rightEvent(state, 'expired', { by: author })).ok;
    expect([by(cast.keeper), by(cast.fabric), by(cast.producer)]).toEqual([true, true, true]);
    expect([by(cast.reviewer), by(cast.human), by(cast.stranger)]).toEqual([false, false, false]);
    const stale = rightEvent(state, 'expired', { fence: Fence.parse(9) });
    expect(transition(state, stale)).toEqual({ ok: false, reason: 'staleFence' });
  });

  it('lets nobody claim for somebody else, nor before its time', () => {
    const state = taskIn('ready');
    const forOther = rightEvent(state, 'claimed', { holder: PrincipalId.parse('berta') });
    expect(transition(state, forOther)).toEqual({ ok: false, reason: 'notHolder' });
    const later = taskIn('scheduled', { notBeforeAtMs: builtAtMs + 1 });
    expect(transition(later, rightEvent(later, 'claimed'))).toEqual({
      ok: false,
      reason: 'notDue',
    });
    const onTime = rightEvent(later, 'claimed', { atMs: builtAtMs + 1 });
    expect(transition(later, onTime).ok).toBe(true);
  });
});

describe('a person’s wish while a claim is held', () => {
  it.each(['released', 'expired', 'failed', 'parked'] as const)(
    'is obeyed when the run %s instead of obeying it',
    (kind) => {
      expect(afterKinds(taskIn('working'), 'cancelRequested', kind).phase).toBe('canceled');
      expect(afterKinds(taskIn('working'), 'revokeRequested', kind).phase).toBe('submitted');
    },
  );

  it('is obeyed before anything began', () => {
    const taken = afterKinds(taskIn('claimed'), 'revokeRequested');
    expect(transition(taken, rightEvent(taken, 'started')).ok).toBe(false);
    for (const kind of ['released', 'expired', 'revoked'] as const) {
      expect(afterKinds(taken, kind)).toMatchObject({ phase: 'submitted', attempts: 0 });
    }
  });

  it.each(['deferred', 'asked'] as const)('comes before a run that %s', (kind) => {
    for (const wish of ['cancelRequested', 'revokeRequested'] as const) {
      const state = afterKinds(taskIn('working'), wish);
      expect(transition(state, rightEvent(state, kind))).toEqual({
        ok: false,
        reason: 'wrongPhase',
      });
    }
  });

  it('comes too late for an outcome', () => {
    expect(afterKinds(taskIn('working'), 'cancelRequested', 'settled').phase).toBe('done');
  });

  it('ends a run by the holder only, after it was asked to', () => {
    const working = taskIn('working');
    expect(phaseAfter(working, 'canceled')).toBeUndefined();
    expect(phaseAfter(working, 'revoked')).toBeUndefined();
    expect(afterKinds(working, 'cancelRequested', 'canceled').phase).toBe('canceled');
    expect(afterKinds(working, 'revokeRequested', 'revoked')).toMatchObject({
      phase: 'submitted',
      attempts: 0,
    });
  });
});
