import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { a2aViewOf, isTerminal } from '../../fabric/domain/a2a-state.ts';
import { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import { limits } from '../../fabric/domain/limits.ts';
import { phases, type Phase } from '../../fabric/domain/state.ts';
import type { Question } from '../../fabric/domain/task.ts';
import { transition } from '../../fabric/domain/transition.ts';
import { history, type Step } from './arbitraries.ts';

const runs = { numRuns: 500 };
const check = (holds: (one: ReturnType<typeof ofHistory>) => void) => {
  fc.assert(
    fc.property(history, (one) => holds(ofHistory(one))),
    runs,
  );
};
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;
const ofHistory = (one: History) => ({ ...one, taken: one.steps.filter((step) => step.after) });

const starts = ({ event }: Step): boolean =>
  event.kind === 'started' || (event.kind === 'claimed' && event.attempt !== undefined);
const byPerson = ({ event }: Step): boolean => event.by.role === 'human';

describe('any order of events', () => {
  it('folds without a throw, to the same state each time', () => {
    check(({ log, state }) => {
      expect(fold(log)).toEqual(state);
      const [first, ...rest] = log;
      expect(fold(rest, fold([first!]))).toEqual(state);
      expect(state.version).toBe(log.length);
    });
  });

  it('folds the same after it was written down and parsed again', () => {
    check(({ log, state }) => {
      const again = log.map((event) => TaskEvent.parse(JSON.parse(JSON.stringify(event))));
      expect(fold(again)).toEqual(state);
    });
  });

  it('changes nothing of the state it starts from', () => {
    check(({ steps }) => {
      for (const { before, event } of steps) {
        const asText = JSON.stringify(before);
        transition(before, event);
        expect(JSON.stringify(before)).toBe(asText);
      }
    });
  });

  it('never starts outward work twice without a person or its own plan to be woken', () => {
    check(({ taken }) => {
      let isOpen = false;
      for (const step of taken) {
        if (byPerson(step) || step.event.kind === 'deferred') isOpen = false;
        if (!starts(step) || step.before.task.effects !== 'external') continue;
        expect(isOpen).toBe(false);
        isOpen = true;
      }
    });
  });

  it(`counts at most ${limits.attempts} lost runs between two words of a person`, () => {
    check(({ taken }) => {
      let lost = 0;
      for (const step of taken) {
        const { event, before, after } = step;
        if (after?.attempts === 0 && before.attempts > 0 && byPerson(step)) lost = 0;
        const wasRunning = before.phase === 'working';
        if (wasRunning && (event.kind === 'expired' || event.kind === 'failed')) lost += 1;
        expect(after?.attempts).toBeLessThanOrEqual(limits.attempts);
        expect(after?.attempts).toBeGreaterThanOrEqual(0);
        expect(lost).toBeLessThanOrEqual(limits.attempts);
        if (starts(step)) expect(before.attempts).toBeLessThan(limits.attempts);
      }
    });
  });

  it('counts no attempt for what says nothing about the task', () => {
    const free = new Set(['parked', 'released', 'deferred', 'asked', 'revoked']);
    check(({ taken }) => {
      for (const { event, before, after } of taken) {
        if (before.phase !== 'working' || !free.has(event.kind)) continue;
        if (after?.phase === 'needs-review') continue;
        expect(after?.attempts, event.kind).toBe(before.attempts - 1);
      }
    });
  });

  it('never lets the producer judge its own work', () => {
    check(({ taken }) => {
      for (const { event, before } of taken) {
        if (!['verified', 'refused', 'reviewed'].includes(event.kind)) continue;
        expect(event.by.id).not.toBe(before.producer);
        if (before.needsHumanVerify) expect(event.by.role).toBe('human');
      }
    });
  });

  it('never changes an A2A state that has ended, nor falls back to SUBMITTED', () => {
    check(({ taken }) => {
      let wasWorking = false;
      for (const { before, after } of taken) {
        const [was, is] = [a2aViewOf(before).state, a2aViewOf(after!).state];
        wasWorking ||= was === 'WORKING';
        if (isTerminal(was)) expect(is).toBe(was);
        if (wasWorking) expect(is).not.toBe('SUBMITTED');
      }
    });
  });

  it('binds each answer to the open question, its addressee and its options', () => {
    check(({ taken }) => {
      for (const { event, before, after } of taken) {
        if (event.kind !== 'answered') continue;
        const question: Question = before.question!;
        expect(event.decisionId).toBe(question.decisionId);
        expect(question.to).toContain(event.by.id);
        if (question.kind !== 'question') expect(question.options).toContain(event.value);
        if (question.kind === 'rating') expect(after?.score).toBe(Number(event.value));
        expect(after?.question).toBeUndefined();
      }
    });
  });

  it('gives each claim a greater fence, and takes nothing of an older one', () => {
    check(({ taken }) => {
      let newest = 0;
      for (const { event, before, after } of taken) {
        if (event.kind === 'claimed') {
          expect(after!.claim!.fence).toBeGreaterThan(newest);
          newest = after!.claim!.fence;
        } else if ('fence' in event && event.fence !== undefined) {
          expect(event.fence).toBe(newest);
          expect(before.claim?.fence).toBe(newest);
        }
      }
    });
  });

  it('holds a claim in claimed and working only, a question where it waits for one', () => {
    check(({ taken }) => {
      for (const { after } of taken) {
        const { phase, claim, question, outcome, revokeTo } = after!;
        expect(claim !== undefined).toBe(phase === 'claimed' || phase === 'working');
        expect(question !== undefined).toBe(phase === 'input-required' || phase === 'needs-review');
        if (revokeTo) expect(claim).toBeDefined();
        if (phase === 'done' || phase === 'verified') expect(outcome).toBeDefined();
      }
    });
  });

  it('never makes doubtful work ready but by a person', () => {
    check(({ taken }) => {
      for (const step of taken) {
        if (step.before.phase !== 'needs-review') continue;
        if (step.after?.phase !== 'needs-review') expect(byPerson(step)).toBe(true);
      }
    });
  });

  it('forgets no decision and no receipt', () => {
    check(({ taken }) => {
      for (const { before, after } of taken) {
        expect(after?.decisions.slice(0, before.decisions.length)).toEqual(before.decisions);
        for (const [key, { digest }] of Object.entries(before.receipts)) {
          expect(after?.receipts[key]?.digest).toBe(digest);
        }
      }
    });
  });

  it('gets to every phase that an event leads to', () => {
    const reached = new Set<Phase>();
    const one = fc.property(history, ({ steps, state }) => {
      for (const { before } of steps) reached.add(before.phase);
      reached.add(state.phase);
    });
    fc.assert(one, { numRuns: 1_000, seed: 20_261_130 });
    const unreached = phases.filter((phase) => !reached.has(phase));
    expect(unreached).toEqual(['waiting-event', 'deploying', 'deploy-failed', 'rejected']);
  });
});
