import { describe, expect, it } from 'vitest';
import { AgentId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import { createSlots } from '../../fabric/queue/slots.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { builtAtMs } from '../support/board-builders.ts';
import { queueMesh } from '../support/queue-mesh.ts';
import { rightEvent } from '../support/right-event.ts';
import { after, afterKinds, taskIn } from '../support/task-in-phase.ts';

const hourMs = 3_600_000;

/** A state after `times` parks in a row, each with the given end of its wall from the park on. */
function parkedTimes(times: number, wallMs?: number): TaskState {
  let state = taskIn('ready');
  for (let time = 0; time < times; time++) {
    const working = afterKinds(state, 'claimed', 'started');
    const park = rightEvent(working, 'parked');
    const end = wallMs === undefined ? {} : { untilMs: park.atMs + wallMs };
    state = after(working, { ...park, ...end });
  }
  return state;
}

const pauseOf = (state: TaskState): number => state.parked!.untilMs - state.phaseAtMs;

describe('a parked task', () => {
  it('pauses twice as long each time in a row, up to ten minutes', () => {
    const pauses = [1, 2, 3, 4, 7, 8, 30].map((times) => pauseOf(parkedTimes(times)));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 320_000, 600_000, 600_000]);
    expect(limits.parkMs).toBe(600_000);
  });

  it('goes on at the very end of a wall that names one', () => {
    expect(pauseOf(parkedTimes(1, 700))).toBe(700);
    expect(pauseOf(parkedTimes(1, 5 * hourMs))).toBe(5 * hourMs);
    expect(pauseOf(parkedTimes(9, 5 * hourMs))).toBe(5 * hourMs);
  });

  it('does not believe for ever a wall that names a near end again and again', () => {
    expect([1, 2, 3, 30].map((times) => pauseOf(parkedTimes(times, 700)))).toEqual([
      700, 5_000, 10_000, 600_000,
    ]);
  });

  it.each(['asked', 'deferred', 'failed', 'released', 'expired'] as const)(
    'begins anew after a run that %s',
    (kind) => {
      const again = afterKinds(parkedTimes(6), 'claimed', 'started', kind);
      expect(again.parks).toBeUndefined();
    },
  );

  it('says until when and how often', () => {
    const state = { ...parkedTimes(3), agentId: AgentId.parse('adolf') };
    const text = whyWaiting(state, { nowMs: state.phaseAtMs });
    expect(text).toBe(
      'It is parked until 2026-11-30 09:00:20Z: the quota is used up (3 times in a row).',
    );
  });

  const quota = 'It is parked until 2026-11-30 09:00:05Z: the quota is used up.';
  const loop =
    'It waits for a loop outside the mesh: mesh task next --agent adolf (nobody runs it here).';
  const away = 'It is parked until 2026-11-30 09:01:00Z: adolf is not available (the gateway).';
  const outside = { a: 0, reasons: ['nobody runs it here'], outside: true } as const;
  const gateway = { a: 0, reasons: ['the gateway'], untilMs: builtAtMs + 60_000 } as const;
  it.each([
    ['its own wall', 1, { a: 1, reasons: [] } as const, [quota]],
    ['no wall, and a loop outside', 0, outside, [loop]],
    ['its own wall, then a loop outside', 1, outside, [quota, loop]],
    ['its own wall, and its agent’s', 1, gateway, [quota, away]],
    ['its agent’s wall alone', 0, gateway, [away]],
  ])('tells every wall: %s', (_name, times, availability, said) => {
    const state = { ...parkedTimes(times), agentId: AgentId.parse('adolf') };
    const why = whyWaiting(state, { nowMs: builtAtMs, availability });
    expect(why).toBe(said.join(' '));
    // When its own wall is over nobody hears of it any more.
    const later = whyWaiting(state, { nowMs: builtAtMs + 10_000, availability });
    expect(later).not.toContain('quota');
  });

  it.each([
    ['of unknown end', undefined],
    ['that names the next second', 1_000],
  ])('does not fill its log within a day of a wall %s', async (_name, wallMs) => {
    const { deps, clock, submit, stateOf } = queueMesh();
    const { taskId } = await submit();
    const parked = (): RunEnd => ({
      ...{ kind: 'parked', reason: 'the gateway is away' },
      ...(wallMs === undefined ? {} : { untilMs: clock.nowMs() + wallMs }),
    });
    const worker = startWorker(deps, {
      agentId: 'adolf',
      runTask: () => Promise.resolve(parked()),
      availability: { at: () => ({ a: 1, reasons: [] }) },
      slots: createSlots(),
      incarnation: 'test',
    });
    await clock.advance(0);
    for (let hour = 0; hour < 24; hour++) await clock.advance(hourMs);
    await worker.stop();
    const state = await stateOf(taskId);
    expect(state.phase).toBe('ready');
    expect(state.parks).toBeGreaterThan(100);
    expect(state.version).toBeLessThan(limits.reservedFromVersion);
  });
});
