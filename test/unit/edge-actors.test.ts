import { describe, expect, it } from 'vitest';
import { parseEventId } from '../../agents/a2a/event-id.ts';
import { createTaskActors } from '../../agents/a2a/task-actors.ts';
import type { TaskEvent } from '../../fabric/domain/events.ts';
import { fold } from '../../fabric/domain/fold.ts';
import type { TaskId } from '../../fabric/domain/ids.ts';
import { PrincipalId } from '../../fabric/domain/ids.ts';
import type { Principal } from '../../fabric/domain/principal.ts';
import type { TaskState } from '../../fabric/domain/state.ts';
import type { Journal, JournalFrame } from '../../fabric/ports/journal.ts';
import {
  claimedBy,
  failedBy,
  newTaskId,
  settledBy,
  submittedEvent,
} from '../support/board-builders.ts';
import { manualClock } from '../support/manual-clock.ts';
import { recordingLog } from '../support/recording-log.ts';

/** One task's log, whose hints reach the edge only when a test says so. */
function oneTask() {
  const uid = newTaskId();
  const events: TaskEvent[] = [submittedEvent({ taskId: uid })];
  const watchers = new Set<(uid: TaskId, state: TaskState) => void>();
  const state = () => fold(events)!;
  const board = {
    read: async (asked: TaskId) =>
      asked === uid ? { uid, events: [...events], state: state(), beats: undefined } : undefined,
    watch: (watcher: (uid: TaskId, state: TaskState) => void) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
  return {
    ...{ uid, board, state, watchers },
    append: (event: TaskEvent) => void events.push(event),
    hint: (seen = state()) => {
      for (const watcher of watchers) watcher(uid, seen);
    },
  };
}

/** A journal in memory; `commit` lets waiting frames through, `lose` forgets what was not committed. */
function heldJournal() {
  const kept: JournalFrame[] = [];
  const waiting: (() => void)[] = [];
  const journal: Journal = {
    append: (_uid, frame, durability) => {
      kept.push(structuredClone(frame));
      return durability === 'buffered'
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push(resolve));
    },
    read: async (_uid, incarnation, after) =>
      kept.filter((frame) => frame.incarnation === incarnation && frame.sequence > after),
    prune: async () => 0,
  };
  return {
    ...{ journal, kept },
    commit: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
    loseAfter: (sequence: number) => {
      while ((kept.at(-1)?.sequence ?? 0) > sequence) kept.pop();
    },
  };
}

const alvis: Principal = {
  id: PrincipalId.parse('alvis'),
  role: 'human',
  trust: 'human',
  scopes: new Set(['tasks:read', 'tasks:verify']),
};

function edgeOf(task: ReturnType<typeof oneTask>, journal: Journal, incarnation = 'here') {
  const clock = manualClock();
  const log = recordingLog();
  const stopping = new AbortController();
  const queue = { board: task.board as never, clock, log };
  const actors = createTaskActors({ queue, journal, incarnation, stopping: stopping.signal });
  return { actors, clock, log, stopping };
}

const claim = (incarnation = 'here') => claimedBy('adolf', { incarnation, attempt: 1 });

describe('the actor of a task', () => {
  it('shows a frame at which somebody may act only once it is committed', async () => {
    const task = oneTask();
    const { journal, commit } = heldJournal();
    const { actors } = edgeOf(task, journal);
    const stream = await actors.subscribe(task.uid);
    task.append(claim());
    task.append(settledBy('adolf', 2));
    task.hint();
    expect((await stream.next())?.frame.kind).toBe('artifact');
    const last = await stream.next();
    expect(last?.frame).toEqual({ kind: 'state', version: 3 });
    let isShown = false;
    void last?.committed?.then(() => (isShown = true));
    await Promise.resolve();
    expect(isShown).toBe(false);
    commit();
    await last?.committed;
    expect(isShown).toBe(true);
  });

  it('keeps no frame of a task that nobody has ever followed', async () => {
    const task = oneTask();
    const { journal, kept } = heldJournal();
    const { actors } = edgeOf(task, journal);
    task.append(claim());
    task.hint();
    actors.chunk(task.uid, 'unheard');
    expect(kept).toEqual([]);
    expect(actors.textOf(task.uid)).toBe('unheard');
  });

  it('ignores hints that come late or out of order', async () => {
    const task = oneTask();
    const early = task.state();
    const { actors } = edgeOf(task, heldJournal().journal);
    const stream = await actors.subscribe(task.uid);
    task.append(claim());
    task.hint();
    task.hint(early);
    task.hint();
    expect((await stream.next())?.frame).toEqual({ kind: 'state', version: 2 });
    stream.close();
    expect(await stream.next()).toBeUndefined();
  });

  it('finds out by itself what no hint has told', async () => {
    const task = oneTask();
    const { actors, clock } = edgeOf(task, heldJournal().journal);
    const waiting = actors.waitUntilResting(task.state(), alvis, { waitMs: 60_000 });
    task.append(claim());
    task.append(settledBy('adolf', 2));
    await clock.advance(5_000);
    expect((await waiting).phase).toBe('done');
  });

  it('lets a waiting caller go at the deadline with what there is, and the task goes on', async () => {
    const task = oneTask();
    const { actors, clock } = edgeOf(task, heldJournal().journal);
    const waiting = actors.waitUntilResting(task.state(), alvis, { waitMs: 60_000 });
    await clock.advance(59_999);
    task.append(claim());
    task.hint();
    await clock.advance(1);
    expect((await waiting).phase).toBe('working');
  });

  it.each([true, false])(
    'waits for no caller who has hung up, before it began: %s',
    async (early) => {
      const task = oneTask();
      const { actors } = edgeOf(task, heldJournal().journal);
      const caller = new AbortController();
      if (early) caller.abort();
      const options = { waitMs: 60_000, gone: caller.signal };
      const waiting = actors.waitUntilResting(task.state(), alvis, options);
      caller.abort();
      expect((await waiting).phase).toBe('ready');
    },
  );

  it('lets everybody go when the process stops', async () => {
    const task = oneTask();
    const { actors, stopping } = edgeOf(task, heldJournal().journal);
    const waiting = actors.waitUntilResting(task.state(), alvis, { waitMs: 60_000 });
    const stream = await actors.subscribe(task.uid);
    stopping.abort();
    expect((await waiting).phase).toBe('ready');
    expect(await stream.next()).toBeUndefined();
    expect(task.watchers.size).toBe(0);
  });

  it('numbers on where an actor that was let go has stopped', async () => {
    const task = oneTask();
    const { journal } = heldJournal();
    const { actors } = edgeOf(task, journal);
    const first = await actors.subscribe(task.uid);
    task.append(claim('elsewhere'));
    task.hint();
    expect((await first.next())?.id.sequence).toBe(1);
    first.close();
    const second = await actors.subscribe(task.uid);
    expect(second.id.sequence).toBe(1);
  });

  it('forgets the answer of an attempt when the next one begins', async () => {
    const task = oneTask();
    const { actors } = edgeOf(task, heldJournal().journal);
    const stream = await actors.subscribe(task.uid);
    task.append(claim());
    task.hint();
    actors.chunk(task.uid, 'first try');
    task.append(failedBy('adolf', 2));
    task.append(claimedBy('adolf', { incarnation: 'here', attempt: 2 }));
    task.hint();
    actors.chunk(task.uid, 'second');
    expect(actors.textOf(task.uid)).toBe('second');
    const frames = [];
    for (let n = 0; n < 4; n++) frames.push((await stream.next())?.frame);
    expect(frames[1]).toEqual({ kind: 'chunk', text: 'first try', first: true });
    expect(frames[3]).toEqual({ kind: 'chunk', text: 'second', first: true });
  });
});

describe('going on after a process has died', () => {
  async function died() {
    const task = oneTask();
    const held = heldJournal();
    const before = edgeOf(task, held.journal, 'dead');
    const stream = await before.actors.subscribe(task.uid);
    task.append(claim('dead'));
    task.hint();
    before.actors.chunk(task.uid, 'a');
    before.actors.chunk(task.uid, 'b');
    for (let n = 0; n < 3; n++) await stream.next();
    before.stopping.abort();
    return { task, held, after: edgeOf(task, held.journal, 'alive') };
  }

  it('is exact from a committed event, then shows the task as it is now', async () => {
    const { task, after } = await died();
    const stream = await after.actors.subscribe(task.uid, parseEventId('dead.1'));
    expect(stream.replay.map(({ id, frame }) => [id.sequence, frame.kind])).toEqual([
      [2, 'chunk'],
      [3, 'chunk'],
    ]);
    expect(stream.isReset).toBe(false);
    expect(stream.snapshot?.state.phase).toBe('working');
    expect(stream.id).toEqual({ incarnation: 'alive', sequence: 0 });
  });

  it('starts anew from an event past the last commit', async () => {
    const { task, held, after } = await died();
    held.loseAfter(1);
    const stream = await after.actors.subscribe(task.uid, parseEventId('dead.3'));
    expect(stream).toMatchObject({ isReset: true, replay: [] });
    expect(stream.snapshot?.state.phase).toBe('working');
  });

  it.each(['alive.99', 'nobody.1'])('starts anew from %s', async (id) => {
    const { task, after } = await died();
    expect((await after.actors.subscribe(task.uid, parseEventId(id))).isReset).toBe(true);
  });
});

describe('an event id', () => {
  it.each([
    ['w-1.2.17', { incarnation: 'w-1.2', sequence: 17 }],
    ['a.0', { incarnation: 'a', sequence: 0 }],
    ['a', undefined],
    ['.1', undefined],
    ['a.-1', undefined],
    ['', undefined],
  ])('%j is %j', (text, id) => {
    expect(parseEventId(text)).toEqual(id);
  });
});
