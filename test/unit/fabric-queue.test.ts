import { describe, expect, it } from 'vitest';
import { BoardUnavailableError } from '../../fabric/domain/errors.ts';
import { AgentId, QueueId } from '../../fabric/domain/ids.ts';
import { limits } from '../../fabric/domain/limits.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { AvailabilityProbe } from '../../fabric/ports/availability.ts';
import type { RunEnd } from '../../fabric/ports/run-task.ts';
import type { TaskBoard } from '../../fabric/ports/task-board.ts';
import { claimTask } from '../../fabric/queue/claim.ts';
import { keepText } from '../../fabric/queue/finish.ts';
import { runHeld } from '../../fabric/queue/run-held.ts';
import { createSlots } from '../../fabric/queue/slots.ts';
import { submitTask } from '../../fabric/queue/submit.ts';
import { whyWaiting } from '../../fabric/queue/why.ts';
import { startWorker } from '../../fabric/queue/worker.ts';
import { agentCaller, person, queueMesh, type MemoryQueueMesh } from '../support/queue-mesh.ts';

const pinned = (id: string) => ({ kind: 'agent', agentId: AgentId.parse(id) }) as const;
const available: AvailabilityProbe = { at: () => ({ a: 1, reasons: [] }) };
const next = /a worker of queue berta takes it next/;
const never = new AbortController().signal;

const aroundOf = ({ clock }: MemoryQueueMesh, taken: number) => ({
  nowMs: clock.nowMs(),
  slots: { taken, limit: 1 },
});

/** The mesh with its board changed in one place. */
const withBoard = (mesh: MemoryQueueMesh, change: (board: TaskBoard) => Partial<TaskBoard>) => ({
  ...mesh.deps,
  board: { ...mesh.deps.board, ...change(mesh.deps.board) },
});

describe('a worker', () => {
  it('with nothing to do looks once a poll', async () => {
    const mesh = queueMesh();
    let looks = 0;
    const deps = withBoard(mesh, (board) => ({
      list: (...of) => {
        looks += 1;
        return board.list(...of);
      },
    }));
    const worker = startWorker(deps, {
      agentId: 'adolf',
      runTask: async () => ({ kind: 'stopped' }),
      availability: available,
      slots: createSlots(),
      incarnation: 'one',
    });
    for (let poll = 0; poll < 10; poll++) await mesh.clock.advance(limits.pollMs);
    expect(looks).toBeGreaterThanOrEqual(8);
    expect(looks).toBeLessThanOrEqual(15);
    await worker.stop();
  });

  it('finds its task behind a queue’s head that is another agent’s', async () => {
    const shared = QueueId.parse('shared');
    const mesh = queueMesh({ id: 'berta', queue: shared }, { id: 'carl', queue: shared });
    for (let n = 0; n < 20; n++) await mesh.submit({ target: pinned('berta'), priority: 1 });
    const { taskId } = await mesh.submit({ target: pinned('carl'), priority: 3 });
    const worker = startWorker(mesh.deps, {
      agentId: 'carl',
      runTask: async () => ({ kind: 'done', outcome: { summary: 'Done.', artifacts: [] } }),
      availability: available,
      slots: createSlots(),
      incarnation: 'one',
    });
    await mesh.clock.advance(1_000);
    expect((await mesh.stateOf(taskId)).phase).toBe('done');
    await worker.stop();
  });
});

describe('places', () => {
  it('call back when one gets free that somebody was refused, and only then', () => {
    const slots = createSlots();
    let calls = 0;
    const undo = slots.onFree('adolf', () => (calls += 1));
    slots.tryTake('adolf', 1)?.giveBack();
    expect(calls).toBe(0);
    const slot = slots.tryTake('adolf', 1);
    expect(slots.tryTake('adolf', 1)).toBeUndefined();
    slot?.giveBack();
    slot?.giveBack();
    expect([calls, slots.taken('adolf')]).toEqual([1, 0]);
    undo();
  });

  it('tell a task of others that run, never of its own place nor of one that nobody fills yet', async () => {
    const mesh = queueMesh({ id: 'berta', concurrency: 1 });
    const slots = createSlots();
    const own = await mesh.submit({ target: pinned('berta') });
    const other = await mesh.submit({ target: pinned('berta') });
    const why = (state: TaskState) =>
      whyWaiting(state, aroundOf(mesh, slots.takenByOthers('berta', state.taskId)));
    const slot = slots.tryTake('berta', 1);
    expect([why(own), why(other)]).toEqual([
      expect.stringMatching(next),
      expect.stringMatching(next),
    ]);
    slot?.holdFor(own.taskId);
    expect(slots.taken('berta')).toBe(1);
    expect(why(own)).toMatch(next);
    expect(why(other)).toMatch(/waits for a free slot: berta runs 1 of 1 task/);
    slot?.giveBack();
    expect(why(other)).toMatch(next);
  });
});

describe('a task that is ready again', () => {
  it('does not wait for the place that its own run is about to give back', async () => {
    const mesh = queueMesh({ id: 'berta', concurrency: 1 });
    const slots = createSlots();
    const said: string[] = [];
    mesh.deps.board.watch((uid, state) => {
      if (state.phase !== 'ready' || state.version === 1) return;
      const taken = slots.takenByOthers('berta', uid);
      said.push(`${slots.taken('berta')} taken: ${whyWaiting(state, aroundOf(mesh, taken))}`);
    });
    await mesh.submit({ target: pinned('berta') });
    const worker = startWorker(mesh.deps, {
      ...{ agentId: 'berta', availability: available, slots, incarnation: 'one' },
      runTask: async () => ({ kind: 'failed', reason: 'bad luck', retryable: true }),
    });
    await mesh.clock.advance(1_000);
    await worker.stop();
    expect(said[0]).toMatch(/^1 taken: It is ready; a worker of queue berta takes it next/);
  });
});

describe('a run’s end', () => {
  const held = async (mesh: MemoryQueueMesh) => {
    const { taskId } = await mesh.submit();
    const policy = mesh.deps.directory.agent('adolf')!;
    const claim = { policy, incarnation: 'one', startNow: true } as const;
    return { policy, claim: (await claimTask(mesh.deps, taskId, claim))! };
  };

  it('is on record once, and known to be, when its answer was lost', async () => {
    const mesh = queueMesh();
    const { policy, claim } = await held(mesh);
    let lost = 0;
    const deps = withBoard(mesh, (board) => ({
      async append(...slot) {
        const answer = await board.append(...slot);
        if (slot[2].kind === 'settled' && lost++ === 0) throw new BoardUnavailableError('gone');
        return answer;
      },
    }));
    const end: RunEnd = { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } };
    const runTask = async () => end;
    const run = runHeld(deps, claim, { policy, runTask, interactive: false, stopping: never });
    for (let step = 0; step < 10; step++) await mesh.clock.advance(200);
    expect((await run)?.phase).toBe('done');
    const events = (await mesh.deps.board.read(claim.uid))?.events ?? [];
    expect(events.map(({ kind }) => kind)).toEqual(['submitted', 'claimed', 'settled']);
  });

  it('tells what has ended to stop no more', async () => {
    const mesh = queueMesh();
    const { policy, claim } = await held(mesh);
    let stops = 0;
    const runTask = async (_run: unknown, signal: AbortSignal): Promise<RunEnd> => {
      signal.addEventListener('abort', () => (stops += 1));
      return { kind: 'done', outcome: { summary: 'Done.', artifacts: [] } };
    };
    await runHeld(mesh.deps, claim, { policy, runTask, interactive: false, stopping: never });
    expect([(await mesh.stateOf(claim.uid)).phase, stops]).toEqual(['done', 0]);
  });

  it('is a person’s to judge where it can’t be kept or would run again at once', async () => {
    const mesh = queueMesh();
    const summary = 'x'.repeat(limits.messageChars + 1);
    const oversized: RunEnd = { kind: 'done', outcome: { summary, artifacts: [] } };
    const past: RunEnd = { kind: 'deferred', wakeAtMs: mesh.clock.nowMs() };
    for (const end of [oversized, past]) {
      const { taskId } = await mesh.submit();
      expect((await mesh.run(taskId, end)).phase).toBe('needs-review');
    }
    const { taskId } = await mesh.submit();
    const later = { kind: 'deferred', wakeAtMs: mesh.clock.nowMs() + 1_000 } as const;
    expect((await mesh.run(taskId, later)).phase).toBe('scheduled');
  });

  it('is not begun where putting the start on record took most of the lease', async () => {
    const mesh = queueMesh();
    const { taskId } = await mesh.submit();
    const policy = mesh.deps.directory.agent('adolf')!;
    const claim = (await claimTask(mesh.deps, taskId, { policy, incarnation: 'one' }))!;
    const deps = withBoard(mesh, (board) => ({
      async append(...slot) {
        const answer = await board.append(...slot);
        if (slot[2].kind === 'started') await mesh.clock.advance(policy.leaseMs - 4_000);
        return answer;
      },
    }));
    let begun = 0;
    const runTask = async () => {
      begun += 1;
      return { kind: 'stopped' } as const;
    };
    await runHeld(deps, claim, { policy, runTask, interactive: false, stopping: never });
    expect(begun).toBe(0);
    expect(await mesh.stateOf(taskId)).toMatchObject({ phase: 'ready', attempts: 0 });
  });
});

describe('bounds of a submit', () => {
  it(`takes ${limits.inlineBytes} bytes inline and not one more`, async () => {
    const mesh = queueMesh();
    const body = (bytes: number) => ({ intent: { title: 'Long', body: 'x'.repeat(bytes) } });
    expect((await mesh.submit(body(limits.inlineBytes))).phase).toBe('ready');
    await expect(mesh.submit(body(limits.inlineBytes + 1))).rejects.toMatchObject({
      code: 'PAYLOAD_INLINE',
    });
  });

  it('keeps a text of 8 KiB inline, a longer one by reference', async () => {
    const puts: unknown[] = [];
    const artifacts = {
      put: async (text: unknown) => `${puts.push(text)}`.padStart(64, '0'),
      get: async () => undefined,
    };
    const keep = (bytes: number) =>
      keepText({ artifacts }, 'answer', 'text/plain', 'x'.repeat(bytes));
    expect(await keep(limits.inlineBytes)).toMatchObject({ bytes: limits.inlineBytes });
    expect(puts).toEqual([]);
    expect((await keep(limits.inlineBytes + 1)).ref).toMatch(/^artifact:0+1$/);
  });

  it(`goes ${limits.ancestryDepth} deep and not one deeper, and never in a circle`, async () => {
    const names = Array.from({ length: limits.ancestryDepth + 2 }, (_, n) => `agent-${n}`);
    const mesh = queueMesh(...names.map((id) => ({ id })));
    let parent = await mesh.submit({ target: pinned(names[0]!) });
    const below = async (target: string) => {
      const by = parent.agentId!;
      const run = { taskId: parent.taskId, fence: 2 };
      return mesh.submit({ principal: agentCaller(by, { run }), target: pinned(target) });
    };
    for (const name of names.slice(1, -1)) parent = await below(name);
    expect(parent.task.provenance.depth).toBe(limits.ancestryDepth);
    await expect(below(names.at(-1)!)).rejects.toMatchObject({ code: 'DEPTH_EXCEEDED' });

    const root = await mesh.submit({ target: pinned('agent-0') });
    parent = root;
    parent = await below('agent-1');
    await expect(below('agent-0')).rejects.toMatchObject({ code: 'CYCLE_DETECTED' });
  });

  it(`lets an agent make as many tasks an hour as its Card says`, async () => {
    const mesh = queueMesh({ id: 'berta', createdPerHour: 3 });
    const principal = agentCaller('berta');
    for (let n = 0; n < 3; n++) await mesh.submit({ principal });
    await expect(mesh.submit({ principal })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    await mesh.clock.advance(3_600_001);
    expect((await mesh.submit({ principal })).phase).toBe('ready');
  });
});

describe('an unrated task that goes to nobody in particular', () => {
  it('is never ready before somebody rates it, also when its submitter dies in between', async () => {
    const mesh = queueMesh();
    const request = { target: { kind: 'auto' }, idempotencyKey: 'one' } as const;
    const dies = withBoard(mesh, (board) => ({
      append: async (...slot) => {
        if (slot[2].kind === 'asked') throw new BoardUnavailableError('gone');
        return board.append(...slot);
      },
    }));
    const whole = {
      ...request,
      principal: person('alvis'),
      intent: { title: 'Audit', body: 'Audit the log.' },
      mode: 'async',
      verification: 'submitter',
    } as const;
    await expect(submitTask(dies, whole)).rejects.toMatchObject({ code: 'FABRIC_DOWN' });
    const queue = QueueId.parse('router');
    expect(await mesh.deps.board.list(queue, mesh.clock.nowMs(), 10)).toEqual([]);
    const { state, created } = await submitTask(mesh.deps, whole);
    expect(created).toBe(false);
    expect(state).toMatchObject({ phase: 'input-required', question: { kind: 'rating' } });
  });
});
